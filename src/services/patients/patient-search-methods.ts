import type { ReadyCall } from "../../call.js";
import { insufficientScope } from "../../errors.js";
import { PatientDetails_Status } from "../../gen/cupo/clinic/v1/patient_details_pb.js";
import type {
  PatientDirectoryService,
  SearchPatientsRequest,
} from "../../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { documentWord, nameWords, phoneWord } from "../../postgres/search/search-words.js";
import { insertAccessRecords } from "../../postgres/tables/patients/patient-evidence.js";
import {
  findEndOfScan,
  findPatients,
  type PatientSearch,
  rarestBeginning,
} from "../../postgres/tables/patients/patient-search.js";
import { readPatients } from "../../postgres/tables/patients/patients.js";
import { nameIn } from "../resources/enum-names.js";
import { wordAfter } from "../resources/page-keys.js";
import { cutPage, nextFrom, readPage } from "../resources/pages.js";
import { toPatientDetails } from "./patient-messages.js";

const DOCUMENT_SCOPE = "patients:document:read";
const MAX_NAME_WORDS = 8;

/** The methods of PatientDirectoryService that return several patients, by id or by search. */
export const patientSearchMethods: Pick<
  Implementation<typeof PatientDirectoryService>,
  "batchGetPatients" | "searchPatients"
> = {
  async batchGetPatients({ patientIds }, call) {
    const found = new Map((await readPatients(call.transaction, patientIds)).map((each) => [each.id, each]));
    insertAccessRecords(call, [...found.keys()]);
    return {
      patients: patientIds.flatMap((id) => found.get(id) ?? []).map(toPatientDetails),
      missingPatientIds: patientIds.filter((id) => !found.has(id)),
    };
  },
  async searchPatients(request, call) {
    return searchPage(request, call);
  },
};

/**
 * Returns one page of the patients who match a search. One page scans a limited part of the index. If the scan stops
 * before the end of the index, the page can have fewer rows than requested. The next page continues where the scan
 * stopped.
 *
 * Throws:
 * - 403 if the request has a document prefix and the caller lacks the scope patients:document:read
 * - 422 if the page token is from another list or from a search with other filters
 */
async function searchPage(request: SearchPatientsRequest, call: ReadyCall) {
  if (request.documentNumberPrefix !== undefined && !call.principal.scopes.has(DOCUMENT_SCOPE))
    throw insufficientScope(DOCUMENT_SCOPE);
  const transaction = call.transaction;
  const status = request.status === undefined ? undefined : nameIn(PatientDetails_Status, request.status);
  const beginnings = beginningsOf(request);
  const filters = [beginnings, status];
  const page = readPage(request, "patients found", filters);
  const position = wordAfter(page);
  const leading = position?.wanted ?? (await rarestBeginning(transaction, beginnings));
  const search: PatientSearch = { leading, beginnings, status };
  const found = await findPatients(transaction, search, { after: position, limit: page.size + 1 });
  const end = found.length > page.size ? undefined : await findEndOfScan(transaction, search, position);
  const { rows, next } = cutPage(found, page, (row) => [leading, row.word, row.id], "patients found", filters);
  insertAccessRecords(
    call,
    rows.map((row) => row.id),
  );
  const goesOn = end === undefined ? next : nextFrom([leading, end.word, end.id], "patients found", filters);
  return { patients: rows.map(toPatientDetails), ...goesOn };
}

/**
 * Returns the prefixes of a search. A patient matches if, for each prefix, a search word of the patient begins with it.
 * From a name, uses only the {@link MAX_NAME_WORDS} longest words.
 */
function beginningsOf({ name, phone, documentNumberPrefix }: SearchPatientsRequest): readonly string[] {
  const names = name === undefined ? [] : nameWords(name).toSorted((a, b) => b.length - a.length);
  return [
    ...(documentNumberPrefix === undefined ? [] : [documentWord(documentNumberPrefix)]),
    ...(phone === undefined ? [] : [phoneWord(phone)]),
    ...names.slice(0, MAX_NAME_WORDS),
  ];
}
