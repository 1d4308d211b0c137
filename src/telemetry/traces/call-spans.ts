import { RestError } from "@cupo/connect-rest";
import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { CallTrace, EndOfPart } from "../../call.js";
import { CupoError, errorTable } from "../../errors.js";
import { asCupoError } from "../../problems/problem.js";
import { summarize } from "./statement-summary.js";

/**
 * Creates the trace of a call. `begin` starts a span for a step of the call, and `beginStatement` starts a span for an
 * SQL statement. A step that begins within another step gets a nested span. `context` holds the span of the request.
 * Creates no spans for a request that is not sampled.
 */
export function createCallTrace(tracer: Tracer, span: Span, context: Context): CallTrace {
  const { traceId, spanId } = span.spanContext();
  if (!span.isRecording()) return { traceId, spanId, begin: () => nothing, beginStatement: () => nothing };
  let current = context;
  return {
    traceId,
    spanId,
    begin(name) {
      const outer = current;
      const part = tracer.startSpan(name, {}, outer);
      current = trace.setSpan(outer, part);
      return once((failure) => {
        current = outer;
        endSpan(part, failure);
      });
    },
    beginStatement(text) {
      const { verb, table } = summarize(text);
      const summary = table === undefined ? verb : `${verb} ${table}`;
      const attributes = {
        "db.system.name": "postgresql",
        "db.operation.name": verb,
        "db.query.summary": summary,
        ...(table === undefined ? {} : { "db.collection.name": table }),
      };
      const statement = tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes }, current);
      return once((failure) => endSpan(statement, failure));
    },
  };
}

/** Ends a span. If `failure` is given, records the type of the error but not its message. */
export function endSpan(span: Span, failure?: unknown): void {
  if (failure !== undefined) {
    const known = failure instanceof RestError ? asCupoError(failure) : failure;
    span.setAttribute("error.type", typeOf(known));
    if (!isRefusal(known)) span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** Whether the error rejects the request (status below 500). Such an error is not a failure of the service. */
function isRefusal(failure: unknown): boolean {
  return failure instanceof CupoError && errorTable[failure.code].status < 500;
}

function typeOf(failure: unknown): string {
  if (!(failure instanceof Error)) return "_OTHER";
  const { code } = failure as Error & { readonly code?: unknown };
  return typeof code === "string" ? code : failure.name;
}

function once(end: EndOfPart): EndOfPart {
  let isOver = false;
  return (failure) => {
    if (!isOver) end(failure);
    isOver = true;
  };
}

function nothing(): void {}
