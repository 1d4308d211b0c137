import type { JsonObject } from "@bufbuild/protobuf";
import { listViolations } from "@cupo/connect-rest";
import { describe, expect, test } from "vitest";
import { messageValidatorOf } from "../../src/interceptors/validation/validate-message.js";
import { publicClinicServices, publishedServices } from "../../src/listeners/clinic-services.js";
import { describePublic } from "../../src/openapi/documents/public-document.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { servedServices } from "../../src/services/services.js";
import { testNow } from "../support/clock.js";

interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly components: Readonly<Record<string, JsonObject>>;
}

const options = {
  services: publishedServices(servedServices),
  basePath: "/api/external/v1",
  examples: requestExamples(testNow()),
  problemsUrl: "https://problems.test",
  validate: messageValidatorOf,
  listErrors: listViolations,
};
const ofClinic = publicClinicServices(servedServices, ["all"]);
const published = documentWith([]);
const all = documentWith(ofClinic);

describe("the public document with operations of the clinic", () => {
  const every = ofClinic.map(({ service }) => service.name);

  test.each([...every, "all"])("has the published operations unchanged, and adds those of %s", (name) => {
    const chosen = publicClinicServices(servedServices, [name]);
    const whole = name === "all" ? all : documentWith(chosen);
    const first = Object.entries(published.paths);
    expect(JSON.stringify(Object.entries(whole.paths).slice(0, first.length))).toBe(JSON.stringify(first));
    const added = Object.entries(whole.paths).slice(first.length);
    expect(added.every(([path]) => path.startsWith("/api/clinic/v1/"))).toBe(true);
    const ids = added.flatMap(([, { servers, ...item }]) => {
      expect(servers).toEqual([{ url: "/", description: "The public listener" }]);
      return Object.values(item).map((operation) => String(Reflect.get(Object(operation), "operationId")));
    });
    expect(ids.toSorted()).toEqual(
      chosen.flatMap(({ service }) => service.methods.map((each) => each.localName)).toSorted(),
    );
    for (const [kind, components] of Object.entries(published.components))
      if (kind !== "securitySchemes") expect(whole.components[kind]).toMatchObject(components);
  });

  test("says where the values of an example come from by the members of REST answers", () => {
    const { paths } = all;
    const read = JSON.stringify(paths["/api/clinic/v1/appointments/{appointmentId}"]);
    expect(read).toContain("First take `appointmentId` from `appointmentId` of the answer to BookAppointment.");
    const book = JSON.stringify(paths["/api/clinic/v1/appointments"]);
    expect(book).toContain("First take `optionToken` from `options[0].optionToken`");
  });

  test("has no path over Connect, which the public listener does not serve", () => {
    expect(JSON.stringify(all)).not.toContain("x-connect");
  });
});

function documentWith(clinic: typeof ofClinic): Document {
  return describePublic({ ...options, clinic }) as unknown as Document;
}
