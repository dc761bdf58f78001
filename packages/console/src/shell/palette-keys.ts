/** The keys that open the palette. */
export const PALETTE_KEYS = 'mod+k';
