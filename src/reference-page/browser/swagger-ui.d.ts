/** What these scripts use of swagger-ui-dist, which brings no types. */
interface Window {
  SwaggerUIBundle(settings: Readonly<Record<string, unknown>>): void;
}

interface SwaggerRequest {
  readonly headers: Record<string, string>;
  /** Whether the document itself is asked for. */
  readonly loadSpec?: boolean;
}

type SwaggerComponent = (props: never) => unknown;

interface SwaggerSystem {
  readonly React: {
    readonly Fragment: unknown;
    createElement(type: unknown, props?: object | null, ...children: unknown[]): unknown;
    useEffect(effect: () => void, dependencies: readonly unknown[]): void;
  };
}

interface SwaggerRowProps {
  /** Whether the operation can be tried out now. */
  readonly isExecute: boolean;
  /** The parameter as the document has it. */
  readonly rawParam: { get(member: string): string };
  onChange(parameter: unknown, value: string | null, isXml: boolean): void;
}
