import { servedServices } from "../services/services.js";

/** Returns the text of `cupo operations`: a Markdown table, or JSON. Loads its modules only when it is called. */
export async function printOperations(json: boolean): Promise<string> {
  const { describeOperations, tableOfOperations } = await import("./operation-table.js");
  const rows = describeOperations(servedServices.map(({ service }) => service));
  return json ? `${JSON.stringify(rows, undefined, 2)}\n` : tableOfOperations(rows);
}
