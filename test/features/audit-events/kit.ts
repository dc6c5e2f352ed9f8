import { type Caller, mustSucceed } from '../../kit/caller.js';
import type { SharedStrongroom } from '../../kit/strongroom.js';

const FIELDS = `id: eventId organizationId projectId occurredAt action class subjectId outcome actorKind actorId tokenId requestId address userAgent
  facts { name stringValue numberValue booleanValue listValue } disclosedSecrets { count ids }`;
/** A page of the trail with all of its fields. */
export const LIST = `query ($projectId: ID, $actorId: ID, $actorKind: ActorKind, $actions: [String!], $outcome: AuditOutcome,
    $subjectId: ID, $class: AuditEventClass, $requestId: String, $from: DateTime, $to: DateTime, $first: Int = 100, $after: String) {
  auditEvents(projectId: $projectId, actorId: $actorId, actorKind: $actorKind, actions: $actions, outcome: $outcome,
    subjectId: $subjectId, class: $class, requestId: $requestId, from: $from, to: $to, first: $first, after: $after) {
    nodes { ${FIELDS} } edges { cursor } pageInfo { hasNextPage endCursor } isScanLimitReached } }`;

/** Some fields of an event. */
export interface Event {
  readonly id: string;
  readonly action: string;
  readonly occurredAt: string;
  readonly requestId: string;
}

/** A page of the trail. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
export const page = async (caller: Caller, args: Readonly<Record<string, unknown>> = {}): Promise<any> =>
  (await caller.data(LIST, args)).auditEvents;
/** The events of a page. */
export const events = async (caller: Caller, args: Readonly<Record<string, unknown>> = {}): Promise<Event[]> =>
  (await page(caller, args)).nodes;
/** What they are. */
export const actionsIn = (list: readonly Event[]): string[] => list.map(({ action }) => action);

/** A project with a secret that its admin wrote and read, and that a stranger to it was denied. */
export async function seedStory(strongroom: SharedStrongroom) {
  const { organization, admin, project } = await strongroom.seed.project();
  const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
  const written = mustSucceed(await admin.post('/api/v4/secrets/API_KEY', { ...at, secretValue: 'hush' }));
  const read = mustSucceed(
    await admin.get(`/api/v4/secrets/API_KEY?projectId=${project.id}&environment=dev&secretPath=/`),
  );
  const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
  const denied = await nobody.get(`/api/v1/projects/${project.id}/tags`);
  expect(denied).toBeError(403, 'PERMISSION_DENIED');
  return { organization, admin, project, nobody, written, read, denied, secretId: written.body.secret.id as string };
}
