import fc from 'fast-check';

// The examples of properties are chosen by the seed of the run, as the order of the tests is.
fc.configureGlobal({ seed: Number(process.env.TEST_SEED) });
