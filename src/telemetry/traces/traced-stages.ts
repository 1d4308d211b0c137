import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { type Call, callOf, type EndOfPart } from "../../call.js";

/** Compiles an interceptor for a method, or returns undefined if the method needs none. */
type Stage = (method: DescMethod) => Interceptor | undefined;

/**
 * Traces `stage` with a span named `name`. The span ends when the stage passes the call to the next stage, or rejects
 * the call.
 */
export function tracedJudgement(name: string, stage: Stage): Stage {
  return (method) => traced(stage(method), (interceptor) => judging(name, interceptor));
}

/** Traces `stage` with a span named `name`. The span also covers all later stages. */
export function tracedWork(name: string, stage: Stage): Stage {
  return (method) => traced(stage(method), (interceptor) => working(name, interceptor));
}

function traced(interceptor: Interceptor | undefined, trace: (interceptor: Interceptor) => Interceptor) {
  return interceptor === undefined ? undefined : trace(interceptor);
}

function judging(name: string, stage: Interceptor): Interceptor {
  return (next) => async (request) => {
    const end = beginPart(request.contextValues, name);
    const judge = stage((judged) => {
      end();
      return next(judged);
    });
    return ended(() => judge(request), end);
  };
}

function working(name: string, stage: Interceptor): Interceptor {
  return (next) => {
    const work = stage(next);
    return async (request) => {
      const end = beginPart(request.contextValues, name);
      const response = await ended(() => work(request), end);
      end();
      return response;
    };
  };
}

/**
 * Returns two stages, `begin` and `end`. A span named `name` lasts from `begin` to `end`. Between them, the transport
 * reads the message.
 */
export function tracedReading(name: string): { readonly begin: Stage; readonly end: Stage } {
  const ends = new WeakMap<Call, EndOfPart>();
  return {
    begin: () => (next) => async (request) => {
      const end = beginPart(request.contextValues, name);
      ends.set(callOf(request.contextValues), end);
      return ended(() => next(request), end);
    },
    end: () => (next) => async (request) => {
      ends.get(callOf(request.contextValues))?.();
      return next(request);
    },
  };
}

function beginPart(values: Parameters<typeof callOf>[0], name: string): EndOfPart {
  return callOf(values).trace?.begin(name) ?? nothing;
}

/**
 * Returns the result of `work`, without ending the span. If `work` throws or rejects, ends the span and rethrows the
 * error.
 */
async function ended<T>(work: () => Promise<T>, end: EndOfPart): Promise<T> {
  try {
    return await work();
  } catch (error) {
    end(error);
    throw error;
  }
}

function nothing(): void {}
