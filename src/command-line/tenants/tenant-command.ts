import { Command } from "commander";
import { uuid } from "../arguments.js";
import type { TenantClient } from "./tenant-calls.js";
import type * as Steps from "./tenant-steps.js";

/** The action of a subcommand. `steps` is the module with the actions of all subcommands. */
type Step = (steps: typeof Steps, client: TenantClient, outputs: Steps.StepOutputs) => Promise<void>;

/** Returns `cupo tenant`, the commands for operators. They call the service with the access token in CUPO_TOKEN. */
export function tenantCommand(): Command {
  const command = new Command("tenant")
    .description("manage tenants, as an operator with the access token in CUPO_TOKEN")
    .option("--url <url>", "URL of the internal listener", "http://127.0.0.1:9090");
  const run = async (step: Step) => {
    const token = process.env["CUPO_TOKEN"] ?? "";
    if (token === "")
      throw new Error("CUPO_TOKEN is not set: it must have an access token with the scope tenants:manage");
    const [{ openTenantClient }, steps] = await Promise.all([import("./tenant-calls.js"), import("./tenant-steps.js")]);
    const client = openTenantClient({ url: command.opts<{ url: string }>().url, token });
    await step(steps, client, { output: process.stdout, progress: process.stderr });
  };
  addBeginning(command, run);
  addEnd(command, run);
  return command;
}

function addBeginning(command: Command, run: (step: Step) => Promise<void>): void {
  command
    .command("create <name>")
    .description("create a tenant with default catalogs")
    .option("--id <id>", "its id, a UUID (default: a new one)", uuid)
    .option("--bare", "without default catalogs")
    .action((name: string, flags: { id?: string; bare?: boolean }) =>
      run((steps, client, outputs) => steps.createTenant(client, name, flags, outputs)),
    );
  command
    .command("list")
    .description("list the tenants that were created here")
    .action(() => run((steps, client, outputs) => steps.listTenants(client, outputs)));
  for (const [verb, does] of [
    ["suspend", "refuse changes, but not reads"],
    ["resume", "accept changes again"],
  ] as const)
    command
      .command(`${verb} <id>`)
      .description(does)
      .action((id: string) =>
        run((steps, client, outputs) => steps.moveTenant(client, `${verb}Tenant`, uuid(id), outputs)),
      );
}

function addEnd(command: Command, run: (step: Step) => Promise<void>): void {
  command
    .command("export <id> <folder>")
    .description("write all data of a suspended tenant to files, one for each table")
    .action((id: string, folder: string) =>
      run((steps, client, outputs) => steps.exportTenant(client, uuid(id), folder, outputs)),
    );
  command
    .command("erase <id>")
    .description("delete all data of a suspended tenant for ever; waits until it is done")
    .requiredOption("--confirm <name>", "the name of the tenant")
    .action((id: string, { confirm }: { confirm: string }) =>
      run((steps, client, outputs) => steps.eraseTenant(client, uuid(id), confirm, outputs)),
    );
}
