import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../kernel/ids.js';

export const TagSchema = defineEntity({
  name: 'Tag',
  tableName: 'tag',
  uniques: [{ name: 'tag_slug_unique', properties: ['projectId', 'slug'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    slug: p.text(),
    color: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A label on secrets of one project. People read the slug; there is no other name. */
export class Tag extends TagSchema.class {}
TagSchema.setClass(Tag);
