/** The explanation of a failed connection to a database. */
interface Refusal {
  /** The failure as text without a full stop, such as `db.example has no database "cupo"`. */
  readonly says: string;
  readonly advice: string;
}

type Explanation = (url: URL) => Refusal;

const hostOf = ({ host }: URL) => decodeURIComponent(host);
const roleOf = ({ username }: URL) => decodeURIComponent(username);
const databaseOf = ({ pathname }: URL) => decodeURIComponent(pathname.slice(1));

/**
 * Maps an SQLSTATE (appendix A of PostgreSQL's manual), or a code of Node's socket and DNS errors, to its explanation.
 */
const BY_CODE: Readonly<Record<string, Explanation>> = {
  "28P01": (url) => ({
    says: `${hostOf(url)} rejects the password of the role "${roleOf(url)}", or the role does not exist`,
    advice: `Correct the password in the setting, or create the role: CREATE ROLE "${roleOf(url)}" LOGIN PASSWORD '…'`,
  }),
  "28000": (url) => ({
    says: `${hostOf(url)} rejects the role "${roleOf(url)}": it does not exist or may not log in`,
    advice: `Create the role, or allow its login: ALTER ROLE "${roleOf(url)}" LOGIN`,
  }),
  "3D000": (url) => ({
    says: `${hostOf(url)} has no database "${databaseOf(url)}"`,
    advice: "Correct the name in the setting, or create the database: see docs/operate/deploy.md",
  }),
  "42501": (url) => ({
    says: `the role "${roleOf(url)}" may not connect to the database "${databaseOf(url)}"`,
    advice: `Run as the owner of the database: GRANT CONNECT ON DATABASE "${databaseOf(url)}" TO "${roleOf(url)}"`,
  }),
  "53300": (url) => ({
    says: `${hostOf(url)} has no free connection for the role "${roleOf(url)}"`,
    advice: "Raise PostgreSQL's max_connections, or lower DATABASE_CONNECTIONS and JOB_CONNECTIONS",
  }),
  "57P03": (url) => ({ says: `${hostOf(url)} is starting or stopping`, advice: "Wait, and check the server's log" }),
  ENOTFOUND: (url) => ({
    says: `the host "${url.hostname}" does not exist`,
    advice: "Correct the host name in the setting, or add it to the DNS of this machine",
  }),
  EAI_AGAIN: (url) => ({
    says: `no DNS server answers for the host "${url.hostname}"`,
    advice: "Check that this machine can reach its DNS servers",
  }),
  ECONNREFUSED: (url) => ({
    says: `nothing listens at ${hostOf(url)}, or a firewall rejects the connection`,
    advice: "Check that the server is running, and check its port and listen_addresses",
  }),
};

/**
 * Each entry has a pattern and the explanation for errors whose message or code matches it. A matching entry takes
 * precedence over {@link BY_CODE}.
 */
const BY_MESSAGE: readonly (readonly [RegExp, Explanation])[] = [
  [
    /pg_hba\.conf/,
    (url) => ({
      says: `pg_hba.conf of ${hostOf(url)} does not allow the role "${roleOf(url)}" to use the database "${databaseOf(url)}" from this machine`,
      advice:
        "Add an entry for this role, database, address and encryption, before entries that reject it, and reload the server; also check sslmode",
    }),
  ],
  [
    /password must be a (?:string|non-empty string)/,
    (url) => ({
      says: `${hostOf(url)} requires a password for the role "${roleOf(url)}", but the setting has none`,
      advice: "Add the password to the setting",
    }),
  ],
  [
    /does not support SSL/,
    (url) => ({
      says: `${hostOf(url)} does not support TLS, which sslmode requires`,
      advice: "Enable ssl on the server, or change sslmode in the setting",
    }),
  ],
  [
    /certificate|self-signed|altnames/i,
    (url) => ({
      says: `the certificate of ${hostOf(url)} is not trusted`,
      advice:
        "Set sslrootcert in the setting to its certificate authority, and check that the certificate names this host",
    }),
  ],
  [
    /timeout expired|terminated due to connection timeout|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    (url) => ({
      says: `${hostOf(url)} does not answer`,
      advice: "Check that the server is running, and that this machine can reach its address and port",
    }),
  ],
];

/**
 * Returns the explanation of a failed connection to `url`, with the message of the error and with advice. The texts
 * never contain the password of the URL.
 */
export function explainConnectionFailure(error: unknown, url: URL): Refusal {
  const message = error instanceof Error ? error.message || error.name : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const byMessage = BY_MESSAGE.find(([text]) => text.test(`${message} ${code}`))?.[1];
  const explain = byMessage ?? BY_CODE[code];
  const reason = message.includes(code) ? message : `${message}, ${code}`;
  if (explain === undefined)
    return { says: `no connection: ${reason}`, advice: "Check the setting and the server's log" };
  const { says, advice } = explain(url);
  return { says: `${says} (${reason})`, advice };
}
