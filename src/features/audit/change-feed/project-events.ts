import { can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { EventStream } from '../../../kernel/http/streams/event-streams.js';
import type { Frame } from '../../../kernel/http/streams/frames.js';
import { parse } from '../../../kernel/validation.js';
import type { ChangeService, StreamedChange } from './change.service.js';
import { LIST_IMPORTING } from './change.sql.js';
import type { ChangeOperation } from './change-kinds.js';
import type { Location } from './change-reading.js';
import { type IsRegistered, type ProjectEvent, registrations, SubscribeProjectEvents } from './project-events.rules.js';

type Seen = Extract<StreamedChange, { type: 'change' }>;

/** How long the folders that import a folder are taken to be the same: long enough for the secrets of one write. */
const IMPORTS_MS = 500;

/** `POST /api/v1/events/subscribe/project-events`: events of secrets, as the command line and the operator expect them. */
export const projectEvents = (service: ChangeService): EventStream => ({
  method: 'POST',
  path: '/api/v1/events/subscribe/project-events',
  open: async (ctx, { body, lastEventId, signal }) => {
    const given = parse(SubscribeProjectEvents, body);
    const kinds = ['secret', 'secret-import'];
    const filter = { projectId: given.projectId, kinds, ...(lastEventId === null ? {} : { after: lastEventId }) };
    return framesOf(ctx, await service.watch(ctx, filter, signal), registrations(given));
  },
});

async function* framesOf(
  ctx: Context,
  stream: AsyncGenerator<StreamedChange>,
  isRegistered: IsRegistered,
): AsyncGenerator<Frame> {
  const importing = importingFolders(ctx);
  for await (const streamed of stream) {
    const { id } = streamed;
    const frames = streamed.type === 'change' ? await eventsOf(streamed, importing) : [];
    for (const { event, location } of frames)
      if (isRegistered(event, location)) yield { event, data: dataOf(event, location, streamed) };
    // After all of them: who is cut off in between gets them again.
    yield { id };
  }
}

interface Reported {
  readonly event: ProjectEvent;
  readonly location: Location;
}

const EVENTS: Partial<Record<ChangeOperation, ProjectEvent>> = { created: 'secret:create', deleted: 'secret:delete' };

/** What a change is for readers of its folder, and of the folders that import it. */
async function eventsOf({ change, seen, access }: Seen, importing: Importing): Promise<Reported[]> {
  const { location, previous, operation } = seen;
  if (location === null) return [];
  if (change.kind === 'secret-import') return [{ event: 'secret:import-mutation', location }];
  const own: Reported[] =
    previous === null
      ? [{ event: EVENTS[operation] ?? 'secret:update', location }]
      : [
          { event: 'secret:delete', location: previous },
          { event: 'secret:create', location },
        ];
  const others = (await importing(change.folderId)).filter(({ environment, path }) =>
    can(access.ability, 'secret-imports:read', { environment, secretPath: path ?? '' }),
  );
  return [...own, ...others.map((place): Reported => ({ event: 'secret:import-mutation', location: place }))];
}

type Importing = (folderId: string | null) => Promise<readonly Location[]>;

function importingFolders(ctx: Context): Importing {
  let last: { readonly folderId: string; readonly at: number; readonly found: readonly Location[] } | undefined;
  return async (folderId) => {
    if (folderId === null) return [];
    if (last?.folderId === folderId && performance.now() - last.at < IMPORTS_MS) return last.found;
    const rows = await LIST_IMPORTING(ctx, { folderIds: [folderId] });
    const found = rows.map(({ environment, path }): Location => ({ environment, path, key: null, tags: [] }));
    last = { folderId, at: performance.now(), found };
    return found;
  };
}

/** In both forms that clients read: of the documentation, and flat. */
function dataOf(event: ProjectEvent, { environment, path, key }: Location, streamed: StreamedChange): object {
  const projectId = streamed.type === 'change' ? streamed.change.projectId : null;
  const place = { environment, secretPath: path, ...(key === null ? {} : { secretKey: key }) };
  return {
    ...{ projectType: 'secret-manager', projectId, ...place },
    data: { eventType: event, payload: event === 'secret:import-mutation' ? place : [place] },
  };
}
