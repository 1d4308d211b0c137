import { createServer, request as httpRequest, type RequestListener, type RequestOptions } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { DatabaseError } from "pg";
import { type Logger, pino } from "pino";
import { expect, onTestFinished, describe as suite, test } from "vitest";
import { CupoError, serviceUnavailable, validationFailed } from "../src/errors.js";
import { callFor } from "../src/open-call.js";
import {
  contained,
  describe,
  type HttpHandler,
  logForgedTokens,
  logged,
  logRefusedConnections,
  observeError,
} from "../src/request-log.js";
import { callWith, correlationId, principalWith, tenantId } from "./interceptors/run-interceptor.js";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

suite("the line of a request", () => {
  test("has operation, principal, status and duration, and nothing else", async () => {
    const { lines, nextLine, logger } = createLog();
    const port = await serve(
      logged((request, response) => {
        const call = callFor(request);
        call.operation = "cupo.access.v1.PatientService/RegisterPatient";
        call.principal = principalWith({ id: "issuer client" });
        call.actor = "s3cret";
        call.problemCode = "VALIDATION_FAILED";
        response.writeHead(422, { "X-Secret": "s3cret" });
        response.end("s3cret");
      }, logger),
    );
    const { headers } = await send(port, {
      method: "POST",
      path: "/patients/s3cret?document=s3cret",
      headers: { "X-Correlation-Id": correlationId, Authorization: "Bearer s3cret", "Idempotency-Key": "s3cret" },
    });
    await nextLine;
    expect(headers["x-correlation-id"]).toBe(correlationId);
    expect(lines).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        operation: "cupo.access.v1.PatientService/RegisterPatient",
        status: 422,
        code: "VALIDATION_FAILED",
        ms: expect.any(Number),
        correlationId,
        principal: "issuer client",
        tenantId,
        msg: "request",
      },
    ]);
  });

  test("has no unknown values: an unknown path without a principal", async () => {
    const { lines, nextLine, logger } = createLog();
    const port = await serve(logged((_, response) => response.writeHead(404).end(), logger));
    const { headers } = await send(port, { path: "/s3cret" });
    await nextLine;
    expect(headers["x-correlation-id"]).toMatch(UUID);
    expect(lines).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        status: 404,
        ms: expect.any(Number),
        correlationId: headers["x-correlation-id"],
        msg: "request",
      },
    ]);
  });

  test("has no status if the caller disconnected before the answer", async () => {
    const { lines, nextLine, logger } = createLog();
    const port = await serve(logged((request) => request.socket.destroy(), logger));
    await expect(send(port, {})).rejects.toThrow("socket hang up");
    await nextLine;
    expect(lines).toEqual([expect.not.objectContaining({ status: expect.anything() })]);
  });

  test("is written over HTTP/2 too", async () => {
    const { lines, nextLine, logger } = createLog();
    const server = createHttp2Server(
      logged((_, response) => {
        response.writeHead(201);
        response.end();
      }, logger),
    );
    const port = await listening(server);
    const session = connect(`http://127.0.0.1:${port}`);
    const stream = session.request({ ":path": "/", "x-correlation-id": correlationId });
    await new Promise((resolve) => stream.resume().once("close", resolve));
    await nextLine;
    session.close();
    expect(lines).toEqual([expect.objectContaining({ status: 201, correlationId, msg: "request" })]);
  });
});

suite("a handler that throws", () => {
  const handler: HttpHandler = (request, response) => {
    if (request.url === "/s3cret") throw new TypeError("s3cret");
    response.end();
  };

  test("closes only its connection over HTTP/1.1, and has an error line without the message", async () => {
    const { lines, logger } = createLog();
    const port = await serve(contained(handler, logger));
    await expect(send(port, { path: "/s3cret" })).rejects.toThrow("socket hang up");
    expect(await send(port, { path: "/" })).toBeDefined();
    expect(lines).toEqual([
      expect.objectContaining({ level: 50, cause: expect.objectContaining({ name: "TypeError" }) }),
    ]);
    expect(JSON.stringify(lines)).not.toContain("s3cret");
  });

  test("resets only its stream over HTTP/2", async () => {
    const port = await listening(createHttp2Server(contained(handler, createLog().logger)));
    const session = connect(`http://127.0.0.1:${port}`);
    const statusOf = (path: string) =>
      new Promise<unknown>((resolve, reject) => {
        const stream = session.request({ ":path": path }).once("error", reject);
        stream.resume().once("response", (headers) => resolve(headers[":status"]));
      });
    await expect(statusOf("/s3cret")).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
    expect(await statusOf("/")).toBe(200);
    session.close();
  });
});

test("each request has its own call, the same at each access", async () => {
  const seen: unknown[] = [];
  const port = await serve((request, response) => {
    seen.push(callFor(request), callFor(request));
    response.end();
  });
  await send(port, {});
  await send(port, {});
  expect(seen[0]).toBe(seen[1]);
  expect(seen[2]).toBe(seen[3]);
  expect(seen[0]).not.toBe(seen[2]);
});

test("rejected connections are logged at intervals, with the limit that they exceed", () => {
  const { lines, logger } = createLog();
  const rarely = logRefusedConnections(logger, 60_000);
  const always = logRefusedConnections(logger, 0);
  for (const limit of ["a", "b"]) rarely(limit);
  for (const limit of ["c", "d"]) always(limit);
  expect(lines).toEqual(["a", "c", "d"].map((limit) => expect.objectContaining({ level: 40, limit })));
});

test("tokens without a valid signature are logged at intervals, but not those with a client's mistake", () => {
  const { lines, logger } = createLog();
  const rarely = logForgedTokens(logger, 60_000);
  for (const fault of ["EXPIRED", "MISSING", "SIGNATURE", "ALGORITHM"]) rarely(fault);
  expect(lines).toEqual([expect.objectContaining({ level: 40, fault: "SIGNATURE" })]);
});

suite("an error", () => {
  test("of the caller has its code in the line of the request, and no line of its own", () => {
    const { lines, logger } = createLog();
    const call = callWith();
    observeError(validationFailed([]), call, logger);
    expect(call.problemCode).toBe("VALIDATION_FAILED");
    expect(lines).toEqual([]);
  });

  test("of the service has a line without the text of its cause", () => {
    const { lines, logger } = createLog();
    const call = callWith();
    observeError(serviceUnavailable(1, databaseError()), call, logger);
    expect(call.problemCode).toBe("SERVICE_UNAVAILABLE");
    expect(lines).toEqual([
      {
        level: 50,
        time: expect.any(Number),
        code: "SERVICE_UNAVAILABLE",
        correlationId,
        cause: {
          name: "error",
          code: "23505",
          constraint: "patients_active_document_key",
          table: "patients",
          routine: "_bt_check_unique",
          frames: expect.any(Array),
        },
        msg: "call failed",
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain("s3cret");
  });
});

suite("the description of an error", () => {
  test("has the stack in at most twelve frames, without the message", () => {
    const { frames, ...rest } = describe(new RangeError("s3cret"));
    expect(rest).toEqual({ name: "RangeError" });
    expect(frames).toEqual(expect.arrayContaining([expect.stringMatching(/^at .*request-log\.test/)]));
    expect(Array.from(frames as string[]).length).toBeLessThanOrEqual(12);
  });

  test("has no part of a message that looks like a frame, and no causes", () => {
    const error = new Error("refused\n    at home, s3cret\n    at work", { cause: new Error("s3cret") });
    expect(JSON.stringify(describe(error))).not.toMatch(/s3cret|at work/);
  });

  test("works without a stack", () => {
    const error = new Error("s3cret");
    delete error.stack;
    expect(describe(error)).toEqual({ name: "Error" });
  });

  test.each(["s3cret", { message: "s3cret" }, undefined, 42])(
    "has only the type of a thrown value that is not an error: %s",
    (thrown) => {
      expect(describe(thrown)).toEqual({ type: typeof thrown });
    },
  );

  test("has no details of the service's own errors", () => {
    const error = new CupoError("RESOURCE_NOT_FOUND", { detail: "s3cret", headers: { A: "s3cret" } });
    expect(describe(error)).toEqual({ name: "CupoError", code: "RESOURCE_NOT_FOUND", frames: expect.any(Array) });
    expect(JSON.stringify(describe(error))).not.toContain("s3cret");
  });
});

/** Returns PostgreSQL's error for a duplicate, which has row values in several members. */
function databaseError(): DatabaseError {
  const error = new DatabaseError('duplicate key value: "s3cret"', 10, "error");
  return Object.assign(error, {
    code: "23505",
    detail: "Key (document_number)=(s3cret) already exists.",
    where: "s3cret",
    constraint: "patients_active_document_key",
    table: "patients",
    routine: "_bt_check_unique",
  });
}

function createLog() {
  const lines: unknown[] = [];
  let written: () => void = () => undefined;
  const nextLine = new Promise<void>((resolve) => {
    written = resolve;
  });
  const write = (line: string) => {
    lines.push(JSON.parse(line));
    written();
  };
  const logger: Logger = pino({ base: null }, { write });
  return { lines, logger, nextLine };
}

function serve(handle: HttpHandler): Promise<number> {
  return listening(createServer(handle as RequestListener));
}

async function listening(
  server: ReturnType<typeof createServer> | ReturnType<typeof createHttp2Server>,
): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

function send(port: number, options: RequestOptions) {
  return new Promise<{ headers: Record<string, unknown> }>((resolve, reject) => {
    httpRequest({ host: "127.0.0.1", port, agent: false, ...options }, (response) => {
      response.resume().once("end", () => resolve(response));
    })
      .once("error", reject)
      .end();
  });
}
