import { readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** An account of a Unix system other than root. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** What stat(2) says of a folder. */
export interface FolderAccess {
  readonly path: string;
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

const ADVICE = "or set DATABASE_URL to use another PostgreSQL";

/**
 * The account that the server runs as: undefined for the one this process has. Only root needs another, since PostgreSQL
 * refuses to be run by it: the owner of the cluster where there is one, else what {@link unprivilegedAccount} picks.
 * Rejects where there is none, and where the cluster belongs to somebody else.
 */
export async function chooseAccount(cluster: string): Promise<Account | undefined> {
  const self = process.getuid?.();
  if (self === undefined) return undefined;
  const owner = await stat(cluster).catch(() => undefined);
  if (self !== 0) {
    if (owner === undefined || owner.uid === self) return undefined;
    throw new Error(`${cluster} belongs to user id ${owner.uid}; run as that user, set CUPO_DATA_DIR, ${ADVICE}`);
  }
  if (owner !== undefined && owner.uid !== 0) return { name: `id ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  const account = unprivilegedAccount(await readFile("/etc/passwd", "utf8").catch(() => ""));
  if (account !== undefined) return account;
  throw new Error(
    `PostgreSQL refuses to be run by root, and this machine has no user postgres or nobody; add one, run as another user, ${ADVICE}`,
  );
}

/**
 * Picks `postgres` or else `nobody` from the text of /etc/passwd. An id without an entry there is no way out, because
 * initdb looks its user up. `nobody` is meant to own no files; here it owns one folder, which nobody else can enter,
 * on a machine that has no better account and runs a service as root: a server for trying things out, not for production.
 */
export function unprivilegedAccount(passwd: string): Account | undefined {
  const entries = passwd.split("\n").map((line) => line.split(":"));
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = entries.find((entry) => entry[0] === name) ?? [];
    if (uid !== undefined && gid !== undefined && Number(uid) !== 0)
      return { name, uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

/**
 * Makes sure that an account gets to a file or folder. Rejects with an Error that names the outermost folder that keeps
 * it out and says what to do.
 */
export async function requireReach(path: string, account: Account): Promise<void> {
  const folders: FolderAccess[] = [];
  let folder = await realpath(path);
  if (!(await stat(folder)).isDirectory()) folder = dirname(folder);
  for (let child = ""; child !== folder; folder = dirname(folder)) {
    child = folder;
    folders.unshift({ path: folder, ...pick(await stat(folder)) });
  }
  const closed = firstClosedFolder(folders, account);
  if (closed === undefined) return;
  throw new Error(
    `PostgreSQL refuses to be run by root and runs as the user ${account.name} (id ${account.uid}), but that user cannot ` +
      `enter ${closed.path}, which leads to ${path}. Open it (chmod o+x ${closed.path}), move the checkout to a folder that ` +
      `all may enter, set CUPO_DATA_DIR if it is the data folder, run as an ordinary user, ${ADVICE}.`,
  );
}

/**
 * The first of these folders that an account has no execute permission for, by the permission bits alone; the account
 * has no group but its own. Source: POSIX.1-2017, 4.5 File Access Permissions.
 */
export function firstClosedFolder(
  folders: readonly FolderAccess[],
  account: Pick<Account, "uid" | "gid">,
): FolderAccess | undefined {
  return folders.find(({ uid, gid, mode }) => {
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    return (mode & bit) === 0;
  });
}

function pick({ uid, gid, mode }: { uid: number; gid: number; mode: number }) {
  return { uid, gid, mode };
}
