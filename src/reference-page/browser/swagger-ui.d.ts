/** The parts of swagger-ui-dist that these scripts use. The package has no types. */
interface Window {
  SwaggerUIBundle(settings: Readonly<Record<string, unknown>>): void;
}

interface SwaggerRequest {
  readonly headers: Record<string, string>;
  /** Whether the request is for the OpenAPI document itself. */
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
  /** The parameter from the OpenAPI document. */
  readonly rawParam: { get(member: string): string };
  onChange(parameter: unknown, value: string | null, isXml: boolean): void;
}
