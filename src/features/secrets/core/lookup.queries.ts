import { anyOf, prepared } from '../../../kernel/database/tables.js';
import { among, tables } from '../entities/tables.js';
import type { Place } from '../scope/place.rules.js';

type InEnvironment = Omit<Place, 'secretPath'>;

const environments = ({ projectId, environment }: InEnvironment) =>
  tables.selectFrom('environment as e').where('e.project_id', '=', projectId).where('e.slug', '=', environment);

/** Environment and folder of a location; `folderId` is null when there is no such path. */
export const findPlace = prepared((place: Place) =>
  environments(place)
    .leftJoin('folder as f', (join) => join.onRef('f.environment_id', '=', 'e.id').on('f.path', '=', place.secretPath))
    .select(['e.id as environmentId', 'f.id as folderId']),
);

/** An environment with those of these folders that it has; a row without a folder if it has none of them. */
export const findPlaces = prepared((places: InEnvironment & { readonly secretPaths: readonly string[] }) =>
  environments(places)
    .leftJoin('folder as f', (join) =>
      join.onRef('f.environment_id', '=', 'e.id').on('f.path', '=', among(places.secretPaths, 'text')),
    )
    .select(['e.id as environmentId', 'f.id as folderId', 'f.path']),
);

/** Project of a secret, for calls that identify only the secret. */
export const findProjectOf = prepared(({ id }: { readonly id: string }) =>
  tables.selectFrom('secret').select('project_id as projectId').where('id', '=', id),
);

/** Those of these users that are members of a project themselves. */
export const listMemberUsers = prepared(
  ({ projectId, userIds }: { readonly projectId: string; readonly userIds: readonly string[] }) =>
    tables
      .selectFrom('project_membership')
      .select('user_id as id')
      .where('project_id', '=', projectId)
      .where('user_id', '=', anyOf(userIds)),
);

/** A row, if the project exists. */
export const findProject = prepared(({ id }: { readonly id: string }) =>
  tables.selectFrom('project').select('id').where('id', '=', id),
);
