import { prepared } from '../../../kernel/database/tables.js';
import { among, type Lists, type Texts, tables } from '../entities/tables.js';
import type { Place } from '../scope/place.rules.js';

type InEnvironment = Omit<Place, 'secretPath'>;

/** An environment with those of these folders that it has; a row without a folder if it has none of them. */
export const findPlaces = prepared(({ projectId, environment, secretPaths }: InEnvironment & Lists<'secretPaths'>) =>
  tables
    .selectFrom('environment as e')
    .leftJoin('folder as f', (join) =>
      join.onRef('f.environment_id', '=', 'e.id').on('f.path', '=', among(secretPaths, 'text')),
    )
    .select(['e.id as environmentId', 'f.id as folderId', 'f.path'])
    .where('e.project_id', '=', projectId)
    .where('e.slug', '=', environment),
);

/** Project of a secret, for calls that identify only the secret. */
export const findProjectOf = prepared(({ id }: Texts<'id'>) =>
  tables.selectFrom('secret').select('project_id as projectId').where('id', '=', id),
);
