import { expect, it } from 'vitest';
import { readServeTarget } from './serve-target.js';

const unset = { app: null, tokenFile: null, caFile: null };

it.each([
  ['http://10.0.0.1:8265', { ...unset, url: 'http://10.0.0.1:8265' }],
  ['https://ray.example.com/lab/', { ...unset, url: 'https://ray.example.com/lab' }],
  [
    'http://head:8265,app=chat,token_file=/t,ca_file=/c.pem',
    { url: 'http://head:8265', app: 'chat', tokenFile: '/t', caFile: '/c.pem' },
  ],
])('reads %s', (text, expected) => {
  expect(readServeTarget(text)).toEqual(expected);
});

it.each([
  ['head:8265', "'head:8265' is not the URL of a dashboard"],
  ['', "'' is not the URL of a dashboard"],
  ['http://a:b@head:8265', 'has a user or password'],
  ['http://head:8265?x=1', 'has more than a path'],
  ['http://head:8265,app=', 'app is empty'],
  ['http://head:8265,app=a,app=b', 'has app twice'],
  ['http://head:8265,chat', "'chat' is not a part of it"],
])('refuses %s with the reason and what to give', (text, problem) => {
  expect(() => readServeTarget(text)).toThrow(
    expect.objectContaining({ code: 'RAY_SERVE_TARGET', message: expect.stringContaining(problem) as string }),
  );
  expect(() => readServeTarget(text)).toThrow('give the URL of a dashboard as in http://10.0.0.1:8265');
});
