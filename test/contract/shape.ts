import type { Members, MemberType } from "./specification.js";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const TIME = /^\d\d:\d\d:\d\d$/;
const EMAIL = /^[^@\s]+@[^@\s]+$/;

const texts: Readonly<Record<string, RegExp>> = {
  string: /^/,
  uuid: UUID,
  email: EMAIL,
  date: DATE,
  time: TIME,
  "date-time": DATE_TIME,
};

/** Returns the differences between a JSON value and an object with exactly these members, one per line. */
export function differences(members: Members, value: Readonly<Record<string, unknown>>): string[] {
  const missing = Object.entries(members).filter(([name, type]) => !type.endsWith("?") && !(name in value));
  const extra = Object.keys(value).filter((name) => !(name in members));
  const wrong = Object.entries(value).filter(([name, each]) => !isOfType(members[name] ?? "", each));
  return [
    ...missing.map(([name]) => `${name} is missing`),
    ...extra.map((name) => `${name} is not in the specification`),
    ...wrong.filter(([name]) => name in members).map(([name]) => `${name} is no ${members[name]}`),
  ];
}

/** Returns the item type of a list type; undefined for other types. */
export function itemType(type: MemberType): MemberType | undefined {
  const plain = type.replace(/\?$/, "");
  return plain.endsWith("[]") ? plain.slice(0, -2) : undefined;
}

function isOfType(type: MemberType, value: unknown): boolean {
  const plain = type.replace(/\?$/, "");
  const item = itemType(type);
  if (item !== undefined) return Array.isArray(value) && value.every((each) => isOfType(item, each));
  if (plain === "integer") return Number.isInteger(value);
  if (plain === "boolean") return typeof value === "boolean";
  if (plain === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (typeof value !== "string") return false;
  return texts[plain]?.test(value) ?? plain.split("|").includes(value);
}
