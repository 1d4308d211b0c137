import type { DescMethod } from "@bufbuild/protobuf";

/** A problem of a binding that cannot be served, or of two routes that conflict. */
export interface RouteProblem {
  /** The proto file of the method, such as "library/v1/library.proto". */
  readonly file: string;
  /** The method, such as "library.v1.LibraryService/GetBook". */
  readonly method: string;
  /** The binding, such as "GET /v1/books/{name}"; "" if the problem concerns the whole method. */
  readonly binding: string;
  /** A sentence about the problem, without the file and the method. */
  readonly message: string;
}

/** Creates a problem of a method, or of one of its bindings. */
export function routeProblem(method: DescMethod, binding: string, message: string): RouteProblem {
  return { file: method.parent.file.proto.name, method: methodName(method), binding, message };
}

/** Returns the name of a method in problems: "package.Service/Method". */
export function methodName({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}

/** Returns the problem as one line: file, method and message. */
export function describeProblem({ file, method, message }: RouteProblem): string {
  return `${file}: ${method}: ${message}`;
}
