import { authorize } from '../../../kernel/authz/ability.js';
import { mapFound } from '../../../kernel/database/batched.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import { IN_OWN_PROJECT, type ProjectRelations } from '../../projects/public.js';
import { typePrefixOf } from './kind/kind-declaration.js';
import { ROTATION_TYPES } from './kinds/kinds.js';
import type { SecretRotationType } from './rotation.type.js';
import { fieldsOf, withMessages } from './rotation-access.js';
import { toRotationType } from './rotation-kinds.type.js';
import { readOf } from './rotation-reading.service.js';
import { findRotationViews } from './store/rotation.queries.js';

/** One node type per type of rotations, all stored in one table. */
export const rotationNodes = (relations: ProjectRelations): NodeKind[] =>
  ROTATION_TYPES.map((type) =>
    nodeKind<SecretRotationType>({
      type: `${typePrefixOf(type)}Rotation`,
      table: 'secret_rotation',
      reach: `n.type = '${type}' and ${IN_OWN_PROJECT}`,
      load: async (ctx, ids) => {
        const rows = await withMessages(ctx, await findRotationViews(ctx, { ids }));
        const found = await relations.readable(ctx, rows, (row, access) => {
          authorize(access, 'secret-rotation:read', fieldsOf(row));
          return row;
        });
        return mapFound(found, toRotationType);
      },
      record: readOf,
    }),
  );
