import { readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** A Unix account other than root. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The owner and the permissions of a folder, from stat(2). */
export interface FolderAccess {
  readonly path: string;
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

const ADVICE = "or set DATABASE_URL to use another PostgreSQL";

/**
 * Returns the account that runs the server. PostgreSQL does not run as root.
 * - If this process is not root, returns undefined, which stands for the account of this process. Rejects if the
 *   cluster belongs to a different user.
 * - If this process is root, returns the owner of the cluster. If there is no cluster or if root owns it, returns
 *   {@link unprivilegedAccount}. Rejects if the machine has no such account.
 */
export async function chooseAccount(cluster: string): Promise<Account | undefined> {
  const self = process.getuid?.();
  if (self === undefined) return undefined;
  const owner = await stat(cluster).catch(() => undefined);
  if (self !== 0) {
    if (owner === undefined || owner.uid === self) return undefined;
    throw new Error(`${cluster} belongs to user id ${owner.uid}; run as that user, change CUPO_DATA_DIR, ${ADVICE}`);
  }
  if (owner !== undefined && owner.uid !== 0) return { name: `id ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  const account = unprivilegedAccount(await readFile("/etc/passwd", "utf8").catch(() => ""));
  if (account !== undefined) return account;
  throw new Error(
    `PostgreSQL does not run as root, and this machine has no user postgres or nobody; add one, run as another user, ${ADVICE}`,
  );
}

/**
 * Returns the account `postgres` in the text of /etc/passwd, else the account `nobody`, else undefined. The account
 * needs an entry in /etc/passwd, because initdb looks the account up. Ignores an account with the user id 0 (root).
 *
 * By convention, `nobody` owns no files, but here it would own the cluster. This is acceptable, because the embedded
 * server is for evaluation and not for production.
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
 * Checks that an account can reach a file or folder. Otherwise rejects with an Error that says what to do. The message
 * names the outermost folder that the account cannot enter.
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
    `PostgreSQL does not run as root, so it runs as the user ${account.name} (id ${account.uid}), but that user cannot ` +
      `enter ${closed.path}, on the way to ${path}. Allow it (chmod o+x ${closed.path}), move the checkout to a folder that ` +
      `all users may enter, change CUPO_DATA_DIR if it is the data folder, run as an ordinary user, ${ADVICE}.`,
  );
}

/**
 * Returns the first folder that an account may not enter; undefined if the account may enter all. Checks only the
 * permission bits, and only the account's user id and main group id. Source: POSIX.1-2017 section 4.5, File Access
 * Permissions.
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
