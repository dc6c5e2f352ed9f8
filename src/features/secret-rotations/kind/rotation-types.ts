/** The types of rotations. Source: specification 16 to 18. */
export const ROTATION_TYPES = ['datatool-service-token', 'hostos-local-account'] as const;
