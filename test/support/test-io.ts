export { captured, type Ended, testIo } from '../../src/cli/test-io.fixture.js';
