import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";

/**
 * A function that defines one step in the handling of calls. It returns the interceptor for a method, or undefined if
 * calls of the method do not need the step.
 *
 * The function runs at the first call of a method, not for each call. So everything that depends only on the method is
 * computed once. If the function throws, for example for wrong options in the proto, calls of the method fail.
 */
export type Stage = (method: DescMethod) => Interceptor | undefined;

/** A stage with its name in traces and in `cupo operations`. */
export interface NamedStage {
  readonly name: string;
  readonly stage: Stage;
}

/** Returns a function that returns the interceptors of a method, outermost first. */
export function interceptorsFor(stages: readonly Pick<NamedStage, "stage">[]): (method: DescMethod) => Interceptor[] {
  return (method) => stages.flatMap(({ stage }) => stage(method) ?? []);
}

/** Returns the names of the stages that calls of a method pass, outermost first. */
export function stageNames(stages: readonly NamedStage[], method: DescMethod): string[] {
  return stages.filter(({ stage }) => stage(method) !== undefined).map(({ name }) => name);
}
