import { describe, expect, it } from 'vitest';
import { API_PATHS } from '../../protocol/endpoints.js';
import { publicRoute } from './public-route.js';

describe('publicRoute', () => {
  it.each(Object.entries(API_PATHS))('%s is asked for as it is', (path, kind) => {
    expect(publicRoute(path)).toEqual({ kind, path, endpoint: null, workspace: null });
    expect(publicRoute(`${path}?a=%2F&b`)).toEqual({ kind, path: `${path}?a=%2F&b`, endpoint: null, workspace: null });
  });

  it('finds the endpoint in the longer form', () => {
    expect(publicRoute('/workspace/w%201/endpoint/chat%20one/v1/completions?x=1')).toEqual({
      kind: 'completion',
      path: '/v1/completions?x=1',
      endpoint: 'chat one',
      workspace: 'w 1',
    });
    expect(publicRoute('/workspace/w/endpoint/%zz/v1/completions')!.endpoint).toBe('%zz');
  });

  it.each([
    ...['', '/', '*', '/v1', '/v1/', '/v1/chat/completions/', '//v1/completions', '/v1/Completions', '/toString'],
    ...['/workspace//endpoint/e/v1/completions', '/workspace/w/endpoint/e/v1/models', '/workspace/w/endpoint/e'],
    ...['http://h/v1/completions', '/v1/completions%3F', '/__proto__', '/v1/../v1/completions'],
    ...['/v1/completions#a', '/v1/completions?a#b', '/workspace/w/endpoint/e/v1/completions?a#b'],
  ])('%j is not part of the API', (url) => {
    expect(publicRoute(url)).toBeNull();
  });
});
