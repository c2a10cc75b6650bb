import { expect, it } from 'vitest';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { ReplicaProfiles } from './replica-profiles.js';

it('knows the profile of each replica, and reports changes', () => {
  const profiles = new ReplicaProfiles();
  const changes: string[] = [];
  profiles.onChange = (id, profile) => changes.push(`${id} ${profile?.name ?? 'unknown'}`);
  const [quick, slow] = [{ ...fakeProfile(), name: 'quick' }, fakeProfile()];
  profiles.set('a', quick);
  profiles.set('a', quick);
  profiles.set('b', slow);
  expect(profiles.profileOf('a')).toBe(quick);
  expect(profiles.all()).toEqual([
    ['a', quick],
    ['b', slow],
  ]);
  expect(profiles.predictorOf('a')).not.toBeNull();
  expect(profiles.predictorOf('a')).toBe(profiles.predictorOf('a'));
  profiles.set('a', null);
  profiles.set('c', null);
  profiles.keep(['a']);
  expect([profiles.profileOf('a'), profiles.predictorOf('b')]).toEqual([null, null]);
  expect(changes).toEqual(['a quick', 'b tiny', 'a unknown']);
});
