import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ReadyCall } from "../../src/call.js";
import { Event_Start } from "../../src/gen/cupo/clinic/v1/event_pb.js";
import { ListEventsRequestSchema } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { runTransaction } from "../../src/postgres/run-transaction.js";
import { parseCursor } from "../../src/services/events/event-cursor.js";
import { listEvents } from "../../src/services/events/list-events.js";
import { execute } from "../support/database.js";
import {
  type FeedUnderTest,
  insertUnplaced,
  newTenant,
  PATIENT_LIMITS,
  principalIn,
  startFeed,
} from "./feed-under-test.js";
import { openFeedProcess } from "./watchers.js";

/** More events than one statement gives positions to. */
const COMMITTED = 2_345;

let feed: FeedUnderTest;
let tenantId: string;

beforeAll(async () => {
  feed = await startFeed();
});

afterAll(() => feed.close());

beforeEach(async () => {
  tenantId = newTenant();
  await execute(feed.testDatabase.adminUrl, insertUnplaced(tenantId, COMMITTED));
});

test("a list that starts now begins after all committed events", async () => {
  const request = create(ListEventsRequestSchema, { start: Event_Start.NOW });
  const work = { scope: { tenantId }, limits: PATIENT_LIMITS };
  const page = await runTransaction(feed.database, work, (transaction) =>
    listEvents(request, { transaction, principal: principalIn(tenantId) } as unknown as ReadyCall),
  );
  expect(page).toMatchObject({ events: [], hasMore: false });
  expect(parseCursor(page.nextCursor)).toMatchObject({ position: COMMITTED });
});

test("a watch that starts now begins after all committed events", async () => {
  const running = openFeedProcess(feed.testDatabase.url);
  const watcher = running.watch(tenantId);
  await watcher.begun();
  expect(parseCursor(watcher.cursor())).toMatchObject({ position: COMMITTED });
  await watcher.stop();
  await running.close();
});
