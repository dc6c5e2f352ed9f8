import { ORGANIZATION_VOCABULARY, PROJECT_VOCABULARY } from '../../../src/features/identity/permissions/public.js';
import { ResourceFields } from '../../../src/features/members/access-review/access-review.rules.js';

test('questions can name every field that conditions of rules look at, and no other', () => {
  const fields = [PROJECT_VOCABULARY, ORGANIZATION_VOCABULARY].flatMap((words) => Object.values(words.fields));
  const names = new Set(fields.flatMap((each) => Object.keys(each)));
  expect(Object.keys(ResourceFields.shape).toSorted()).toEqual([...names].toSorted());
});
