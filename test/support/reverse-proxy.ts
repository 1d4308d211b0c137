import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.js";
import { freePort } from "./free-port.js";

/** The loopback addresses of the two processes. */
export const proxiedHosts = ["127.0.0.1", "127.0.0.2"] as const;

/** The ports of both processes. */
export interface ServicePorts {
  readonly public: number;
  readonly internal: number;
}

/** A reverse proxy with TLS in front of two processes. */
export interface ReverseProxy {
  readonly publicUrl: string;
  readonly internalUrl: string;
  stop(): Promise<void>;
}

/** A program that can be a reverse proxy and has a configuration in deploy/. */
export interface ProxyProgram {
  readonly name: string;
  /** Whether Debian's package is installed. */
  readonly isThere: boolean;
  /** Starts it on free ports with the deployed configuration. Only ports, host name and certificate are changed. */
  start(ports: ServicePorts): Promise<ReverseProxy>;
}

interface Files {
  readonly folder: string;
  readonly config: string;
}

/** The certificate of the proxies. Clients must trust it. */
export const proxyCertificate = readFileSync(tlsFile("cert.pem"));

export const nginx: ProxyProgram = {
  name: "nginx",
  isThere: answers("/usr/sbin/nginx", "-v"),
  start: (ports) =>
    startProxy("nginx/cupo.conf", ports, ({ folder, config }) => {
      const main = join(folder, "nginx.conf");
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      writeFileSync(
        main,
        `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
  ${temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n  ")}
  include ${config};
}
`,
      );
      return ["/usr/sbin/nginx", "-p", folder, "-e", join(folder, "error.log"), "-c", main];
    }),
};

export const caddy: ProxyProgram = {
  name: "Caddy",
  isThere: answers("caddy", "version"),
  start: (ports) =>
    startProxy("caddy/Caddyfile", ports, ({ config }) => [
      "caddy",
      "run",
      "--adapter",
      "caddyfile",
      "--config",
      config,
    ]),
};

async function startProxy(
  file: string,
  ports: ServicePorts,
  commandOf: (files: Files) => readonly string[],
): Promise<ReverseProxy> {
  const folder = mkdtempSync(join(tmpdir(), "cupo-proxy-"));
  chmodSync(folder, 0o755);
  const [publicPort, internalPort] = [await freePort(), await freePort()];
  const changes: readonly (readonly [string, string])[] = [
    ["scheduling.example:443", `localhost:${publicPort}`],
    ["scheduling.example:9443", `localhost:${internalPort}`],
    ["scheduling.example", "localhost"],
    ["listen 443 ", `listen ${publicPort} `],
    ["listen 9443 ", `listen ${internalPort} `],
    ["/etc/cupo/tls/tls.crt", tlsFile("cert.pem")],
    ["/etc/cupo/tls/tls.key", tlsFile("key.pem")],
    ...proxiedHosts.flatMap((host) => [
      [`${host}:8080`, `${host}:${ports.public}`] as const,
      [`${host}:9090`, `${host}:${ports.internal}`] as const,
    ]),
    ["health_port 9090", `health_port ${ports.internal}`],
  ];
  const deployed = readFileSync(new URL(`../../deploy/${file}`, import.meta.url), "utf8");
  const config = join(folder, "config");
  writeFileSync(
    config,
    changes.reduce((text, [from, to]) => text.replaceAll(from, to), deployed),
  );
  const [program = "", ...args] = commandOf({ folder, config });
  const env = { PATH: process.env["PATH"], HOME: folder };
  const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let complaints = "";
  child.stderr.on("data", (data: Buffer) => {
    complaints += data.toString();
  });
  const ended = once(child, "exit");
  await Promise.race([eventually(() => accepts(internalPort)), ended]);
  if (child.exitCode !== null) throw new Error(`${program} did not start: ${complaints}`);
  return {
    publicUrl: `https://localhost:${publicPort}`,
    internalUrl: `https://localhost:${internalPort}`,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca: proxyCertificate });
  const isOpen = await once(socket, "secureConnect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

function answers(program: string, argument: string): boolean {
  try {
    execFileSync(program, [argument], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function tlsFile(name: string): string {
  return fileURLToPath(new URL(`tls/${name}`, import.meta.url));
}
