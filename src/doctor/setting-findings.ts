import type { SessionSettings } from "../postgres/inspection/server-facts.js";
import { type Finding, failure, warning } from "./finding.js";

const SHORTEST_TIMEOUT_MS = 1_000;

/** A value of a setting that the service cannot work with. */
interface UnfitValue {
  readonly setting: keyof SessionSettings;
  readonly isUnfit: (value: string) => boolean;
  readonly level: typeof failure;
  readonly effect: string;
  readonly fit: string;
}

const UNFIT: readonly UnfitValue[] = [
  {
    setting: "DateStyle",
    isUnfit: (value) => !value.startsWith("ISO"),
    level: failure,
    effect: "the service cannot read dates and times",
    fit: "ISO",
  },
  {
    setting: "row_security",
    isUnfit: (value) => value === "off",
    level: failure,
    effect: "every statement on a table with tenant data fails",
    fit: "on",
  },
  {
    setting: "session_replication_role",
    isUnfit: (value) => value === "replica",
    level: failure,
    effect: "PostgreSQL does not check foreign keys",
    fit: "origin",
  },
  {
    setting: "statement_timeout",
    isUnfit: (value) => Number(value) > 0 && Number(value) < SHORTEST_TIMEOUT_MS,
    level: failure,
    effect: "statements outside of calls fail, such as those of the start, of readiness and of jobs; the unit is ms",
    fit: `0, or to ${SHORTEST_TIMEOUT_MS} ms or more`,
  },
  {
    setting: "synchronous_commit",
    isUnfit: (value) => value === "off",
    level: warning,
    effect: "a crash of the server can lose changes that callers were told are done",
    fit: "on",
  },
];

/** Returns a finding for each setting with which the service cannot work, or can lose changes. */
export function judgeSettings(settings: SessionSettings): Finding[] {
  return UNFIT.filter(({ setting, isUnfit }) => isUnfit(settings[setting])).map(({ setting, level, effect, fit }) => {
    const advice = `Set it to ${fit} where it was set: ALTER DATABASE … RESET ${setting}, ALTER ROLE … or postgresql.conf`;
    return level("database", `${setting} is "${settings[setting]}", so ${effect}`, advice);
  });
}
