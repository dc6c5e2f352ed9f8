import type { Caller, Reply, SharedStrongroom } from '../../../kit/strongroom.js';

/** A folder, as requests name it. */
export interface Place {
  readonly projectId: string;
  readonly environment: string;
  readonly secretPath: string;
}

/** A new project, its root folder in dev, and an admin of it. */
export async function seededPlace(strongroom: SharedStrongroom) {
  const { admin, project } = await strongroom.seed.project();
  const at: Place & Record<string, string> = { projectId: project.id, environment: 'dev', secretPath: '/' };
  return { admin, project, at };
}

/** What a folder holds, by key. */
export async function list(
  caller: Caller,
  at: Place,
): Promise<Record<string, { value: string; comment: string; version: number }>> {
  const { secrets } = (await caller.get(`/api/v4/secrets?${new URLSearchParams({ ...at })}`)).body;
  return Object.fromEntries(
    secrets.map((it: Record<string, unknown>) => [
      it.secretKey,
      { value: it.secretValue, comment: it.secretComment, version: it.version },
    ]),
  );
}

/** The values of a folder, by key. */
export const values = async (caller: Caller, at: Place): Promise<Record<string, string>> =>
  Object.fromEntries(Object.entries(await list(caller, at)).map(([key, { value }]) => [key, value]));

/** The export of a folder. */
export const exported = (
  caller: Caller,
  at: Place,
  format: string,
  more: Record<string, string> = {},
): Promise<Reply> => caller.get(`/api/v4/secrets/export?${new URLSearchParams({ ...at, format, ...more })}`);

/** The places of a refusal, with their codes. */
export const details = ({ body }: Reply): string[] =>
  body.details.map(({ path, code }: Record<string, string>) => `${path} ${code}`);
