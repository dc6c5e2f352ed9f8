/** A secret with something in each of its fields, as `POST /api/v4/secrets` takes it. */
export const fullSecret = (tagId: string) => ({
  secretValue: 'one',
  secretComment: 'of one',
  secretMetadata: [
    { key: 'open', value: 'x' },
    { key: 'shut', value: 'y', isEncrypted: true },
  ],
  tagIds: [tagId],
  skipMultilineEncoding: true,
  secretReminderNote: 'renew',
  secretReminderRepeatDays: 30,
});
