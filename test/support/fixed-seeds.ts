import fc from 'fast-check';

// Properties run over the same cases every time: a failure is a failure of the code, not of the day.
fc.configureGlobal({ seed: 20_261_115 });
