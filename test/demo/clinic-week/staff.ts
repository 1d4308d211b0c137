import { randomUUID } from "node:crypto";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AppointmentService } from "../../../src/gen/cupo/access/v1/appointment_service_pb.js";
import { PatientService } from "../../../src/gen/cupo/access/v1/patient_service_pb.js";
import { SchedulingConfigurationService } from "../../../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { UserAttentionService } from "../../../src/gen/cupo/access/v1/user_attention_service_pb.js";
import { WaitlistService } from "../../../src/gen/cupo/access/v1/waitlist_service_pb.js";
import { BookingService } from "../../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import { CatalogAdminService } from "../../../src/gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import { DeskService } from "../../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { DisplacedAppointmentService } from "../../../src/gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import { HoldService } from "../../../src/gen/cupo/clinic/v1/hold_service_pb.js";
import { NoteService } from "../../../src/gen/cupo/clinic/v1/note_service_pb.js";
import { OccupancyService } from "../../../src/gen/cupo/clinic/v1/occupancy_service_pb.js";
import { OperationsService } from "../../../src/gen/cupo/clinic/v1/operations_service_pb.js";
import { OpportunityService } from "../../../src/gen/cupo/clinic/v1/opportunity_service_pb.js";
import { PatientDirectoryService } from "../../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { ProgramService } from "../../../src/gen/cupo/clinic/v1/program_service_pb.js";
import { ReferenceDataService } from "../../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { ScheduleBlockService } from "../../../src/gen/cupo/clinic/v1/schedule_block_service_pb.js";
import { SeriesService } from "../../../src/gen/cupo/clinic/v1/series_service_pb.js";
import { TenantSettingsService } from "../../../src/gen/cupo/clinic/v1/tenant_settings_service_pb.js";

/** The identity of a staff member, and the observer of the calls. */
export interface Work {
  readonly internalUrl: string;
  /** Returns a token with the scopes of the person's role. Called for each RPC. */
  readonly token: () => Promise<string>;
  /** The opaque id of the person. */
  readonly actor: string;
  /** Receives the name of each RPC. */
  readonly note: (rpc: string) => void;
}

/** The clients of a staff member, one per service. */
export type Staff = ReturnType<typeof openScreens>;

/** Creates the clients of a staff member. Each call has the person's id and a new idempotency key. */
export function openScreens({ internalUrl, token, actor, note }: Work) {
  const signed: Interceptor = (next) => async (request) => {
    note(request.method.name);
    request.header.set("authorization", `Bearer ${await token()}`);
    request.header.set("actor-id", actor);
    request.header.set("idempotency-key", randomUUID());
    return next(request);
  };
  const transport = createConnectTransport({ baseUrl: internalUrl, httpVersion: "1.1", interceptors: [signed] });
  return {
    actor,
    booking: createClient(BookingService, transport),
    series: createClient(SeriesService, transport),
    holds: createClient(HoldService, transport),
    rescheduling: createClient(AppointmentService, transport),
    registration: createClient(PatientService, transport),
    directory: createClient(PatientDirectoryService, transport),
    waitlist: createClient(WaitlistService, transport),
    cases: createClient(UserAttentionService, transport),
    desk: createClient(DeskService, transport),
    notes: createClient(NoteService, transport),
    blocks: createClient(ScheduleBlockService, transport),
    displaced: createClient(DisplacedAppointmentService, transport),
    occupancy: createClient(OccupancyService, transport),
    opportunity: createClient(OpportunityService, transport),
    operations: createClient(OperationsService, transport),
    programs: createClient(ProgramService, transport),
    configuration: createClient(SchedulingConfigurationService, transport),
    reference: createClient(ReferenceDataService, transport),
    settings: createClient(TenantSettingsService, transport),
    catalogs: createClient(CatalogAdminService, transport),
  };
}
