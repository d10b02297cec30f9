import fc from 'fast-check';

// The seed that the run has printed (`vitest.config.ts`).
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED) });
