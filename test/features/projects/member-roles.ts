/** Roles that are held for good, as replies have them. */
export const forGood = (...slugs: readonly string[]) =>
  slugs.map((role) => ({
    role,
    isTemporary: false,
    temporaryMode: null,
    temporaryRange: null,
    temporaryAccessStartTime: null,
    temporaryAccessEndTime: null,
  }));
