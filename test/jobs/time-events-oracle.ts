import { GRACE_MINUTES, MINUTE_MS, type SeenEvent } from "./time-events-under-test.js";

/** What the oracle knows of an appointment. Times are milliseconds since the epoch. */
interface Known {
  startMs: number;
  placedMs: number;
  version: number;
  /** The version with which it got its present start. */
  placedVersion: number;
  isOpen: boolean;
}

/** An independent account of the events that the job must write for a tenant with the default offsets. */
export class Oracle {
  readonly appointments = new Map<string, Known>();
  readonly expected: SeenEvent[] = [];

  constructor(private throughMs: number) {}

  booked(id: string, startMs: number, nowMs: number): void {
    this.appointments.set(id, { startMs, placedMs: nowMs, version: 1, placedVersion: 1, isOpen: true });
  }

  moved(id: string, startMs: number, nowMs: number): void {
    const known = this.of(id);
    known.version++;
    if (known.startMs !== startMs) Object.assign(known, { startMs, placedMs: nowMs, placedVersion: known.version });
  }

  changed(id: string, isOpen: boolean): void {
    const known = this.of(id);
    known.version++;
    known.isOpen = isOpen;
  }

  /** The job runs at an instant. */
  ran(nowMs: number): void {
    for (const [id, { startMs, placedMs, version, isOpen }] of this.appointments) {
      for (const minutes of [2880, 1440, -GRACE_MINUTES]) {
        const dueMs = startMs - minutes * MINUTE_MS;
        if (!isOpen || dueMs <= this.throughMs || dueMs > nowMs || placedMs > dueMs) continue;
        this.expected.push([minutes > 0 ? "appointment.reminder_due" : "appointment.no_show_due", id, version]);
      }
    }
    this.throughMs = nowMs;
  }

  /** Whether an event about a version of an appointment is true now. */
  isTrue([, id, version]: SeenEvent): boolean {
    const { isOpen, placedVersion } = this.of(id);
    return isOpen && placedVersion <= version;
  }

  private of(id: string): Known {
    const known = this.appointments.get(id);
    if (known === undefined) throw new Error("an unknown appointment");
    return known;
  }
}
