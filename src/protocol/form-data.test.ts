import { describe, expect, test } from 'vitest';
import { audioSeconds } from './audio-length.js';
import { readFormData } from './form-data.js';

const TYPE = 'multipart/form-data; boundary=b';
const part = (head: string, value: string) => `--b\r\n${head}\r\n\r\n${value}\r\n`;
const field = (name: string, value: string) => part(`Content-Disposition: form-data; name="${name}"`, value);
const FILE = part(
  'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav',
  'RI\r\nFF',
);
const read = (text: string, type = TYPE) => readFormData(Buffer.from(text, 'latin1'), type);

describe('a form', () => {
  test('has fields and a file', () => {
    const form = read(`${field('model', 'm')}${FILE}${field('temperature', '')}--b--\r\n`);
    expect(form.fields).toEqual({ model: 'm', temperature: '' });
    expect(form.file!.toString()).toBe('RI\r\nFF');
  });

  test('is read from what fetch sends', async () => {
    const form = new FormData();
    form.set('model', 'größe');
    form.append('timestamp_granularities[]', 'word');
    form.append('timestamp_granularities[]', 'segment');
    form.set('file', new Blob([new Uint8Array(3000)]), 'a.mp3');
    const sent = new Response(form);
    const { fields, file } = readFormData(Buffer.from(await sent.arrayBuffer()), sent.headers.get('content-type')!);
    expect([fields.model, file!.length]).toEqual(['größe', 3000]);
  });

  test.each([
    ['no boundary', `${field('model', 'm')}--b--`, 'multipart/form-data'],
    ['two boundaries', `${field('model', 'm')}--b--`, 'multipart/form-data; boundary=b; boundary=c'],
    ['another type', `${field('model', 'm')}--b--`, 'application/json'],
    ['something before the first boundary', `x\r\n${field('model', 'm')}--b--`, TYPE],
    ['no last boundary', field('model', 'm'), TYPE],
    ['a boundary that goes on', `--bx\r\n${field('model', 'm')}--b--`, TYPE],
    ['two models', `${field('model', 'm')}${field('model', 'n')}--b--`, TYPE],
    ['two models that differ in case', `${field('model', 'm')}${field('Model', 'n')}--b--`, TYPE],
    [
      'two names in a part',
      `${part('Content-Disposition: form-data; name="a"\r\ncontent-disposition: form-data; name="model"', 'm')}--b--`,
      TYPE,
    ],
    ['an escaped name', `${part('Content-Disposition: form-data; name="mod\\el"', 'm')}--b--`, TYPE],
    ['an extended name', `${part("Content-Disposition: form-data; name*=utf-8''model", 'm')}--b--`, TYPE],
    ['a folded head', `${part('Content-Disposition: form-data;\r\n name="model"', 'm')}--b--`, TYPE],
    ['a bare line end', `${part('Content-Disposition: form-data; name="a"\nx: y', 'm')}--b--`, TYPE],
    [
      'an encoded part',
      `${part('Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64', 'bQ==')}--b--`,
      TYPE,
    ],
    ['a part without a name', `${part('Content-Type: text/plain', 'm')}--b--`, TYPE],
    ['a boundary in a head', `--b\r\nContent-Disposition: form-data; name="a"\r\n--b\r\n\r\nm\r\n--b--`, TYPE],
    ['too many parts', `${field('a[]', 'm').repeat(70)}--b--`, TYPE],
  ])('with %s is refused', (_, text, type) => {
    expect(() => read(text, type)).toThrowError(expect.objectContaining({ status: 400 }));
  });
});

describe('audioSeconds', () => {
  test('is exact for WAV, and an estimate otherwise', () => {
    const wav = Buffer.alloc(44 + 32_000 * 3);
    wav.write('RIFF', 0);
    wav.write('WAVE', 8);
    wav.writeUInt32LE(32_000, 28);
    expect(audioSeconds(wav)).toBe(4);
    wav.writeUInt32LE(2 ** 31, 28);
    expect(audioSeconds(wav)).toBe(7);
    expect([audioSeconds(Buffer.alloc(160_000)), audioSeconds(Buffer.alloc(0))]).toEqual([10, 0]);
  });
});
