import { defineEntity, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';

export const TagSchema = defineEntity({
  name: 'Tag',
  tableName: 'tag',
  uniques: [{ name: 'tag_slug_unique', properties: ['projectId', 'slug'] }],
  properties: { ...projectColumns, slug: p.text(), color: p.text() },
});

/** A label on secrets of one project. People read the slug; there is no other name. */
export class Tag extends TagSchema.class {}
TagSchema.setClass(Tag);
