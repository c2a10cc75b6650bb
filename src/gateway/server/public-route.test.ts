import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { API_PATHS } from '../../protocol/endpoints.js';
import { modelsRoute, originForm, publicRoute } from './public-route.js';

describe('publicRoute', () => {
  it.each([...API_PATHS])('%s is passed on as it is', (path, kind) => {
    expect(publicRoute(path)).toEqual({ kind, path, endpoint: null, workspace: null });
    expect(publicRoute(`${path}?a=%2F&b`)).toEqual({ kind, path: `${path}?a=%2F&b`, endpoint: null, workspace: null });
  });

  it.each([...API_PATHS.keys()])('%s is in the documented table', (path) => {
    expect(readFileSync('docs/gateway.md', 'utf8').includes(`\`${path}\``)).toBe(true);
  });

  it('finds the endpoint in the longer form', () => {
    expect(publicRoute('/workspace/w%201/endpoint/chat%20one/v1/completions?x=1')).toEqual({
      kind: 'completion',
      path: '/v1/completions?x=1',
      endpoint: 'chat one',
      workspace: 'w 1',
    });
    expect(publicRoute('/workspace/w/endpoint/%zz/v1/completions')!.endpoint).toBe('%zz');
    expect(publicRoute('/workspace/w/endpoint/e/rerank')).toMatchObject({ kind: 'rerank', path: '/rerank' });
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

describe('originForm', () => {
  it.each([
    ['/v1/models', 'h', '/v1/models'],
    ['http://h:80/v1/models?a=1', 'H:80', '/v1/models?a=1'],
    ['HTTPS://h', 'h', '/'],
    ['http://h?a', undefined, '/?a'],
    ['*', 'h', '*'],
    ['ftp://h/v1/models', 'h', 'ftp://h/v1/models'],
  ])('%s, to host %s, is the path %s', (target, host, path) => {
    expect(originForm(target, host)).toBe(path);
  });

  it.each(['http://other/v1/models', 'http://user@h/v1/models', 'http://h:81/'])('refuses %s to host h', (target) => {
    expect(() => originForm(target, 'h')).toThrowError(expect.objectContaining({ status: 400 }));
  });
});

describe('modelsRoute', () => {
  it.each([
    ['/v1/models', null, null],
    ['/v1/models/qwen/qwen3-14b', null, 'qwen/qwen3-14b'],
    ['/v1/models/qwen%2Fqwen3-14b', null, 'qwen/qwen3-14b'],
    ['/workspace/w/endpoint/e/v1/models', 'e', null],
    ['/workspace/w/endpoint/e/v1/models/m', 'e', 'm'],
  ])('%s is about endpoint %s, model %s', (path, endpoint, model) => {
    expect(modelsRoute(path)).toEqual({ endpoint, model, workspace: endpoint === null ? null : 'w' });
  });

  it.each(['/v1/models/', '/v1/modelsx', '/v1', '/workspace/w/endpoint/e/v1/models/'])('%s is none', (path) => {
    expect(modelsRoute(path)).toBeNull();
  });
});
