import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Effect, ReadyCall } from "../../call.js";
import { validationFailed } from "../../errors.js";
import { ScheduleBlockDetails_Kind } from "../../gen/cupo/clinic/v1/schedule_block_details_pb.js";
import type {
  CancelScheduleBlockRequestValid,
  CreateScheduleBlockRequestValid,
  ListScheduleBlocksRequest,
  ScheduleBlockService,
  UpdateScheduleBlockRequestValid,
} from "../../gen/cupo/clinic/v1/schedule_block_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { locations, practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { ownCalendar } from "../../postgres/tables/schedule/calendars.js";
import { programs } from "../../postgres/tables/schedule/programs.js";
import {
  countBlocksAhead,
  findOwnerOf,
  findScheduleBlock,
  insertScheduleBlock,
  listScheduleBlocks,
  lockScheduleBlock,
  type ScheduleBlockRecord,
  writeScheduleBlock,
} from "../../postgres/tables/schedule/schedule-blocks.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import { nameIn } from "../resources/enum-names.js";
import { startAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { changesOf, ownerOf, requireReferences } from "../resources/resources.js";
import { changeByBlock, programsOf, requireInForce, requireNotOver, requireTimesAhead } from "./block-change.js";
import type { SchedulePorts } from "./program-service.js";
import { previewSpan, remakeSpan } from "./remake-span.js";
import { toScheduleBlockDetails, toScheduleBlockEffect } from "./schedule-block-messages.js";

/**
 * The highest number of blocks that one practitioner, location or program can have. Ended and cancelled blocks do not
 * count. Each slot plan compares its slots with all blocks that count.
 */
const MAX_BLOCKS_AHEAD = 500;

/**
 * Returns the service that manages blocks. A block is a time without free slots for a practitioner, a location or a
 * program. Each change of a block, except a preview, locks the calendar of the tenant exclusively.
 */
export function createScheduleBlockService({
  now,
  slotLimits,
}: SchedulePorts): Implementation<typeof ScheduleBlockService> {
  const context = () => ({ nowMs: now(), maxOpenSlots: slotLimits.perTenant });
  return {
    async createScheduleBlock(request, call) {
      return createBlock(request, call, context());
    },
    async getScheduleBlock({ scheduleBlockId }, call) {
      const block = requireFound(
        await findScheduleBlock(call.transaction, call.principal, scheduleBlockId),
        "scheduleBlockId",
      );
      return { scheduleBlock: toScheduleBlockDetails(block) };
    },
    async listScheduleBlocks(request, call) {
      return listBlocks(request, call);
    },
    async updateScheduleBlock(request, call) {
      return updateBlock(request, call, context());
    },
    async cancelScheduleBlock(request, call) {
      return cancelBlock(request, call, context());
    },
  };
}

interface ChangeContext {
  readonly nowMs: number;
  readonly maxOpenSlots: number;
}

async function createBlock(request: CreateScheduleBlockRequestValid, call: ReadyCall, context: ChangeContext) {
  const { practitionerId, locationId, programId, note, validateOnly = false } = request;
  const transaction = call.transaction;
  const now = new Date(context.nowMs);
  const times = { startsAt: timestampDate(request.startsAt), endsAt: timestampDate(request.endsAt) };
  requireTimesAhead(times, context.nowMs);
  if (!validateOnly) ownCalendar(transaction);
  const target = { practitionerId, locationId, programId };
  const references = [
    { field: "practitionerId", table: practitioners, id: practitionerId },
    { field: "locationId", table: locations, id: locationId },
    { field: "programId", table: programs, id: programId },
  ];
  const [owner, blocksAhead, programIds] = await Promise.all([
    findOwnerOf(transaction, target),
    countBlocksAhead(transaction, target, now, MAX_BLOCKS_AHEAD),
    programsOf(transaction, target, now),
    requireReferences(call, references),
  ]);
  requireRoom(blocksAhead, target);
  const block: ScheduleBlockRecord = {
    id: call.newId(),
    ...owner,
    ...target,
    ...times,
    kind: nameIn(ScheduleBlockDetails_Kind, request.kind),
    note,
    cancelledAt: undefined,
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
  const change = changeByBlock(programIds, block, undefined, context);
  if (validateOnly) {
    return { effect: await toScheduleBlockEffect(transaction, await previewSpan(transaction, change, context.nowMs)) };
  }
  insertScheduleBlock(transaction, block);
  const done = await remakeSpan(transaction, change, context.nowMs);
  noteEffect(call, block, "CREATE");
  return { scheduleBlock: toScheduleBlockDetails(block), effect: await toScheduleBlockEffect(transaction, done) };
}

function requireRoom(blocks: number, target: Readonly<Record<string, string | undefined>>): void {
  if (blocks < MAX_BLOCKS_AHEAD) return;
  const field = Object.keys(target).find((key) => target[key] !== undefined) ?? "practitionerId";
  const message = `there are already ${MAX_BLOCKS_AHEAD} blocks that have not ended, the most that are allowed: cancel one first`;
  throw validationFailed([{ code: "TOO_MANY", field, message }]);
}

async function updateBlock(request: UpdateScheduleBlockRequestValid, call: ReadyCall, context: ChangeContext) {
  const changes = changesOf(request, "scheduleBlockId");
  const before = await lockBlock(request, call);
  requireInForce(before);
  requireNotOver(before, context.nowMs);
  const { startsAt, endsAt, kind, note } = changes;
  const block: ScheduleBlockRecord = {
    ...before,
    startsAt: startsAt === undefined ? before.startsAt : timestampDate(startsAt),
    endsAt: endsAt === undefined ? before.endsAt : timestampDate(endsAt),
    kind: kind === undefined ? before.kind : nameIn(ScheduleBlockDetails_Kind, kind),
    note: note === undefined ? before.note : note || undefined,
  };
  requireTimesAhead(block, context.nowMs);
  if (Object.keys(changes).length === 0) return previewOf(block, call, context);
  return save(before, block, call, context);
}

async function cancelBlock(request: CancelScheduleBlockRequestValid, call: ReadyCall, context: ChangeContext) {
  const before = await lockBlock(request, call);
  requireInForce(before);
  return save(before, { ...before, cancelledAt: new Date(context.nowMs) }, call, context);
}

async function lockBlock(
  { scheduleBlockId, expectedVersion }: { readonly scheduleBlockId: string; readonly expectedVersion: number },
  call: ReadyCall,
): Promise<ScheduleBlockRecord> {
  ownCalendar(call.transaction);
  const block = requireFound(
    await lockScheduleBlock(call.transaction, call.principal, scheduleBlockId),
    "scheduleBlockId",
  );
  requireVersion(block, expectedVersion);
  return block;
}

async function previewOf(block: ScheduleBlockRecord, call: ReadyCall, context: ChangeContext) {
  const programIds = await programsOf(call.transaction, block, new Date(context.nowMs));
  const change = changeByBlock(programIds, block, undefined, context);
  const shown = await previewSpan(call.transaction, change, context.nowMs);
  return {
    scheduleBlock: toScheduleBlockDetails(block),
    effect: await toScheduleBlockEffect(call.transaction, shown),
  };
}

async function save(
  before: ScheduleBlockRecord,
  changed: ScheduleBlockRecord,
  call: ReadyCall,
  context: ChangeContext,
) {
  const { transaction } = call;
  const block = { ...changed, version: before.version + 1, updatedAt: new Date(context.nowMs) };
  writeScheduleBlock(transaction, block);
  const programIds = await programsOf(transaction, block, new Date(context.nowMs));
  const done = await remakeSpan(transaction, changeByBlock(programIds, block, before, context), context.nowMs);
  noteEffect(call, block, "UPDATE");
  return { scheduleBlock: toScheduleBlockDetails(block), effect: await toScheduleBlockEffect(transaction, done) };
}

function noteEffect(call: ReadyCall, block: ScheduleBlockRecord, action: Effect["action"]): void {
  const { id: resourceId, version } = block;
  call.effects.push({ resourceType: "ScheduleBlock", resourceId, action, version, ownedBy: ownerOf(block) });
}

async function listBlocks(request: ListScheduleBlocksRequest, call: ReadyCall) {
  const { practitionerId, locationId, programId, kind, dateFrom, dateTo, cancelled } = request;
  const filters = [practitionerId, locationId, programId, kind, dateFrom, dateTo, cancelled];
  const page = readPage(request, "schedule blocks", filters);
  const filter = {
    practitionerId,
    locationId,
    programId,
    kind: kind === undefined ? undefined : nameIn(ScheduleBlockDetails_Kind, kind),
    from: dateFrom === undefined ? undefined : new Date(startOfLocalDay(dateFrom)),
    to: dateTo === undefined ? undefined : new Date(endOfLocalDay(dateTo)),
    isCancelled: cancelled,
  };
  const limits = { after: startAfter(page), limit: page.size + 1 };
  const found = await listScheduleBlocks(call.transaction, call.principal, filter, limits);
  const keyOf = ({ startsAt, id }: ScheduleBlockRecord) => [startsAt.toISOString(), id];
  const { rows, next } = cutPage(found, page, keyOf, "schedule blocks", filters);
  return { scheduleBlocks: rows.map(toScheduleBlockDetails), ...next };
}
