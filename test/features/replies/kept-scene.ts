import { mustSucceed } from '../../kit/caller.js';
import type { Caller, Reply } from '../../kit/strongroom.js';

/** How a list is asked for. */
export type Interface = 'REST' | 'GraphQL';

/** What is asked for again and again while something else changes. */
export interface Scene extends Filled {
  /** Its token is used at the other node. */
  readonly reader: Caller;
  readonly list: () => Promise<Reply>;
}

/** A project with a folder that has secrets, a reference and an import. */
export interface Filled {
  readonly admin: Caller;
  /** A member of the project that wrote the secret. */
  readonly writer: Caller;
  readonly project: { readonly id: string; readonly environments: readonly { readonly id: string }[] };
  readonly tag: { readonly id: string };
  readonly folder: { readonly id: string };
  /** Of `/shared`, which the folder imports. */
  readonly link: { readonly id: string };
  readonly place: Place;
}

type Place = { readonly projectId: string; readonly environment: string; readonly secretPath: string };

/** The query of a list with all that belongs to it. */
export const everything = (place: Place): URLSearchParams =>
  new URLSearchParams({ ...place, include_imports: 'true', expandSecretReferences: 'true' });

/** The same in GraphQL. */
export const LIST = `query ($projectId: ID!, $environment: String!, $secretPath: String!) {
  secrets(projectId: $projectId, environment: $environment, secretPath: $secretPath, includeImports: true, expandSecretReferences: true) {
    edges { node { ...shown tags { slug } } }
    imports { secrets { ...shown } }
    pageInfo { hasNextPage startCursor }
  }
}
fragment shown on Secret { secretKey secretValue version actor { name membershipId } __typename }`;

/** Asks for the list, and shows it as REST does. */
export const listOver: Readonly<Record<Interface, (caller: Caller, place: Place) => Promise<Reply>>> = {
  REST: (caller, place) => caller.get(`/api/v4/secrets?${everything(place)}`),
  GraphQL: async (caller, place) => {
    const reply = await caller.graphql(LIST, place);
    if (reply.body?.data?.secrets == null) return reply;
    const { edges, imports } = reply.body.data.secrets;
    const shown = ({ secretValue, ...secret }: { secretValue: string | null }) => ({
      ...secret,
      secretValue: secretValue ?? '<hidden>',
    });
    const secrets = edges.map(({ node }: { node: { secretValue: string | null } }) => shown(node));
    return { ...reply, body: { secrets, imports } };
  },
};

/** @param project that `admin` has made */
export async function fill(
  admin: Caller,
  project: Filled['project'],
  callerOf: (roles: string[]) => Promise<Caller>,
): Promise<Filled> {
  const place = { projectId: project.id, environment: 'dev', secretPath: '/app' };
  const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: '#aa0000' })).body;
  const { folder } = (await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name: 'app' }))
    .body;
  const shared = { ...place, secretPath: '/shared' };
  await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name: 'shared' });
  await admin.post('/api/v4/secrets/BASE', { ...shared, secretValue: 'base' });
  await admin.post('/api/v4/secrets/REFERRING', { ...place, secretValue: '${dev.shared.BASE}!' });
  const { secretImport: link } = (
    await admin.post('/api/v2/secret-imports', {
      ...{ projectId: project.id, environment: 'dev', path: '/app' },
      import: { environment: 'dev', path: '/shared' },
    })
  ).body;
  const writer = await callerOf(['member']);
  mustSucceed(await writer.post('/api/v4/secrets/KEY', { ...place, secretValue: 'first', tagIds: [tag.id] }));
  return { admin, writer, project, tag, folder, link, place };
}
