import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';

export const EnvironmentSchema = defineEntity({
  name: 'Environment',
  tableName: 'environment',
  uniques: [
    { name: 'environment_slug_unique', properties: ['projectId', 'slug'] },
    { name: 'environment_position_unique', properties: ['projectId', 'position'], deferMode: 'deferred' },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    name: p.text(),
    slug: p.text(),
    position: p.integer(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A deployment stage of a project. Positions are 1 to n without gaps; their unique key is checked at commit. */
export class Environment extends EnvironmentSchema.class {}
EnvironmentSchema.setClass(Environment);

/** An environment as its project shows it. */
export type EnvironmentRecord = Pick<
  Environment,
  'id' | 'projectId' | 'name' | 'slug' | 'position' | 'createdAt' | 'updatedAt'
>;
