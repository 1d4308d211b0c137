import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { connect as connectTcp, createConnection } from "node:net";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { PatientService } from "../src/gen/cupo/access/v1/patient_service_pb.js";
import { eventually } from "./support/eventually.js";
import { expectProblem } from "./support/problem.js";
import { registration } from "./support/registration.js";
import { answerOf, parseObject, type RestAnswer, sendRequest } from "./support/rest-request.js";
import { callRpc } from "./support/rpc.js";
import { startTestService, type TestService } from "./support/service.js";

const BASE_PATH = "/api/external/v1";
const REGISTER = "cupo.access.v1.PatientService/RegisterPatient";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe("the public listener", () => {
  test("serves REST over HTTP/1.1 and over HTTP/2 with prior knowledge on one port", async () => {
    const overHttp1 = await service.request("POST", "/patients", { body: registration() });
    const overHttp2 = await sendOverHttp2("/patients", registration());
    expect([overHttp1.status, overHttp2.status]).toEqual([201, 201]);
    expect(Object.keys(overHttp2.body)).toEqual(Object.keys(overHttp1.body));
    const ofTheConnection = new Set(["connection", "keep-alive"]);
    expect(namesOf(overHttp2)).toEqual(namesOf(overHttp1).filter((name) => !ofTheConnection.has(name)));
  });

  test("answers errors over HTTP/2 as over HTTP/1.1", async () => {
    expectProblem(await sendOverHttp2("/patients", {}), 422);
    expectProblem(await sendOverHttp2("/nothing", {}), 404);
  });

  test.each([`/${REGISTER}`, `${BASE_PATH}/${REGISTER}`, "/livez", "/readyz", "/metrics"])(
    "answers 404 at %s",
    async (path) => {
      const token = await service.token();
      expectProblem(await sendRequest("POST", `${service.publicUrl}${path}`, { token, body: registration() }), 404);
      expectProblem(await sendRequest("GET", `${service.publicUrl}${path}`, { token }), 404);
    },
  );

  test("explains each problem type at its URL", async () => {
    const answers = [
      await service.request("POST", "/patients", { body: "{" }),
      await service.request("POST", "/patients", { body: {}, headers: { authorization: null } }),
      await service.request("POST", "/nothing"),
      await service.request("GET", "/patients"),
      await service.request("POST", "/patients", { body: {} }),
    ];
    for (const { body } of answers) {
      const page = await fetch(String(body["type"]));
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(await page.text()).toContain(String(body["code"]));
    }
    expect((await fetch(`${service.publicUrl}/problems/nothing`)).status).toBe(404);
  });
});

describe("the type of a problem", () => {
  test.each([
    [{ PUBLIC_URL: "https://cupo.example.org/clinic/" }, "https://cupo.example.org/clinic/problems"],
    [
      { PUBLIC_URL: "https://cupo.example.org", PROBLEMS_URL: "https://errors.example.org/" },
      "https://errors.example.org",
    ],
  ])("is the same on every replica and on both listeners: %j", async (environment, prefix) => {
    const replicas = await Promise.all([startTestService(environment), startTestService(environment)]);
    const answers = await Promise.all(
      replicas.flatMap((replica) => [
        replica.request("POST", "/patients", { body: "{" }),
        callRpc(replica, PatientService.method.registerPatient),
        refusedByParser(replica.publicUrl),
      ]),
    );
    await Promise.all(replicas.map((replica) => replica.close()));
    const types = answers.map(({ text }) => /"type":"(http[^"]+)"/.exec(text)?.[1]);
    const own = [`${prefix}/invalid-request`, `${prefix}/validation`, `${prefix}/invalid-request`];
    expect(types).toEqual([...own, ...own]);
  });
});

test("the page of a problem supports only GET and HEAD", async () => {
  const url = `${service.publicUrl}/problems/conflict`;
  const refused = await sendRequest("POST", url, { body: {} });
  expectProblem(refused, 405);
  expect(refused.headers.get("allow")).toBe("GET, HEAD");
  const head = await fetch(url, { method: "HEAD" });
  expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([
    200,
    "text/html; charset=utf-8",
    "",
  ]);
});

describe("a body that waits for 100 Continue", () => {
  const send = async (headers: Readonly<Record<string, string>>) => {
    const answer = { continued: false, status: 0 };
    const options = { method: "POST", headers: { ...headers, Expect: "100-continue" }, agent: false };
    const request = httpRequest(`${service.baseUrl}/patients`, options);
    request.flushHeaders();
    request.on("continue", () => {
      answer.continued = true;
      request.end(JSON.stringify(registration()));
    });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    answer.status = response.statusCode ?? 0;
    response.resume();
    request.destroy();
    return answer;
  };
  const key = () => ({ "Idempotency-Key": randomUUID() });
  const json = { "Content-Type": "application/json" };
  const bearer = async (scopes = service.scopes) => ({ Authorization: `Bearer ${await service.token({ scopes })}` });

  test("is requested if token, quota, scope and headers are valid", async () => {
    expect(await send({ ...(await bearer()), ...key(), ...json })).toEqual({ continued: true, status: 201 });
  });

  test("is not requested otherwise", async () => {
    expect(await send({ ...key(), ...json })).toEqual({ continued: false, status: 401 });
    expect(await send({ ...(await bearer([])), ...key(), ...json })).toEqual({ continued: false, status: 403 });
    expect(await send({ ...(await bearer()), ...json })).toEqual({ continued: false, status: 400 });
    expect(await send({ ...(await bearer()), ...key() })).toEqual({ continued: false, status: 400 });
  });
});

describe("the internal listener", () => {
  test("reports that it is alive and ready", async () => {
    for (const path of ["/livez", "/readyz"]) {
      await eventually(async () => (await fetch(`${service.internalUrl}${path}`)).status === 200);
    }
  });

  test("does not serve REST", async () => {
    const url = `${service.internalUrl}${BASE_PATH}/patients`;
    expect((await sendRequest("POST", url, { token: await service.token(), body: registration() })).status).toBe(404);
  });

  test("rejects calls by GET, which would put patient data into URLs", async () => {
    const message = encodeURIComponent(JSON.stringify(registration()));
    const url = `${service.internalUrl}/${REGISTER}?connect=v1&encoding=json&message=${message}`;
    const answer = await answerOf(await fetch(url, { headers: { authorization: `Bearer ${await service.token()}` } }));
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

test("the number of connections per address is a setting, and an excess connection is logged", async () => {
  const limited = await startTestService({ MAX_CONNECTIONS_PER_ADDRESS: "1" });
  onTestFinished(() => limited.close());
  const connectFrom = async (url: string, localAddress: string) => {
    const { hostname: host, port } = new URL(url);
    const socket = connectTcp({ host, port: Number(port), localAddress });
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket.on("error", () => {});
  };
  for (const url of [limited.publicUrl, limited.internalUrl]) {
    const first = await connectFrom(url, "127.0.0.1");
    await once((await connectFrom(url, "127.0.0.1")).resume(), "close");
    const other = await connectFrom(url, "127.0.0.2");
    for (const socket of [first, other]) {
      socket.write("POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    }
    for (const socket of [first, other]) expect(String(await once(socket, "data"))).toContain("404");
  }
  const refusals = limited.log.filter(
    ({ msg }) => msg === "connections or requests are rejected: a limit of the listener is reached",
  );
  expect(refusals.map(({ limit }) => limit)).toEqual(["maxConnectionsPerNetwork", "maxConnectionsPerNetwork"]);
});

async function sendOverHttp2(path: string, body: object): Promise<RestAnswer> {
  const session = connect(service.publicUrl);
  const stream = session.request({
    ":method": "POST",
    ":path": `${BASE_PATH}${path}`,
    authorization: `Bearer ${await service.token()}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
  });
  stream.end(JSON.stringify(body));
  const [head] = (await once(stream, "response")) as [Record<string, string | number>];
  const text = await readText(stream);
  session.close();
  const headers = new Headers();
  for (const [name, value] of Object.entries(head)) if (!name.startsWith(":")) headers.set(name, String(value));
  return { status: Number(head[":status"]), headers, text, body: parseObject(text) };
}

/** Sends an invalid HTTP request, which Node.js' parser rejects before there is a call. Resolves with the answer. */
async function refusedByParser(url: string): Promise<{ text: string }> {
  const { hostname, port } = new URL(url);
  const socket = createConnection(Number(port), hostname);
  socket.end("GET / HTTP/1.1\r\nno header\r\n\r\n");
  return { text: await readText(socket) };
}

function namesOf({ headers }: RestAnswer): string[] {
  return [...headers.keys()];
}
