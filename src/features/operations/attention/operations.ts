import type { Route } from '../../../rest/route.js';
import type { AttentionOperationType } from './attention.type.js';
import type { Help } from './kinds/kind.js';

/** A subject of an operation. */
interface Named {
  readonly id: string;
  readonly projectId: string | null;
  readonly ownerId: string | null;
  readonly type: string | null;
}

/** The operations of both interfaces, by the field that answers them. */
export class Operations {
  readonly #routes: ReadonlyMap<string, readonly Route[]>;

  constructor(routes: readonly Route[]) {
    this.#routes = Map.groupBy(
      routes.filter(({ deprecated }) => deprecated !== true),
      fieldOf,
    );
  }

  /** The operation that helps a subject; undefined if it does not exist for subjects of its type. */
  find({ field, input }: Help, subject: Named): AttentionOperationType | undefined {
    const isOfType = ({ path }: Route) =>
      input !== undefined || subject.type === null || path.split('/').includes(subject.type);
    const route = this.#routes.get(field)?.find(isOfType);
    if (route === undefined) return undefined;
    const inputValue =
      (input === 'attemptId' ? subject.ownerId : input === 'projectId' ? subject.projectId : null) ?? subject.id;
    const httpPath = pathOf(route.path, { ...subject, id: inputValue });
    return {
      ...{ mutation: field, inputField: input ?? 'id', inputValue },
      ...{ httpMethod: route.method, httpPath, summary: route.summary },
    };
  }
}

/** The field that answers a route. */
const fieldOf = (route: Route): string =>
  'field' in route ? route.field : (/\{\s*(\w+)/.exec(route.document)?.[1] ?? '');

/** The path of a subject, whose ID is the last of its parameters. */
function pathOf(path: string, { id, projectId, ownerId }: Named): string {
  const last = path.lastIndexOf('{');
  return path.replace(/\{(\w+)\}/g, (_, name: string, at: number) => {
    if (at === last) return id;
    return (name === 'projectId' ? projectId : ownerId) ?? '';
  });
}
