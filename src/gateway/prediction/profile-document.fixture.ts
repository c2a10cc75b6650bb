import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { profileDocument } from './profile-document.js';

/** A profile as its file holds it. */
export const fakeProfileDocument = (): object => profileDocument(fakeProfile());
