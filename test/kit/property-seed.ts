const FIXED = 20_260;

/** Where random oracles begin: the same in each run of `npm test`, another in `npm run faults`, which sets PROPERTY_SEED. */
export const propertySeed = Number(process.env.PROPERTY_SEED ?? FIXED);
