import { describe, expect, it } from 'vitest';
import type { ResourceChange, ResourceRecord } from '../store/resources/resource-record.js';
import type { ResourceListener } from '../store/resources/resources.js';
import { ChangeFeed, type FeedFilter } from './change-feed.js';

/** Resources that only have a change feed. */
class FakeResources {
  #listener: ResourceListener = () => {};
  current = 0;

  watch(listener: ResourceListener): () => void {
    this.#listener = listener;
    return () => {
      this.#listener = () => {};
    };
  }

  async version(): Promise<number> {
    return this.current;
  }

  change(kind = 'Endpoint', workspace = 'default'): void {
    const version = ++this.current;
    const record = { kind, workspace, name: `r${version}` } as ResourceRecord;
    const change: ResourceChange = { type: 'changed', version, record };
    this.#listener([change]);
  }
}

const opened = async (capacity = 8) => {
  const resources = new FakeResources();
  return { resources, feed: await ChangeFeed.open(resources, capacity) };
};

function following(feed: ChangeFeed, since: number, filter: FeedFilter = {}) {
  const ended = new AbortController();
  const items = feed.follow(since, filter, ended.signal);
  const next = async () => {
    const { done, value } = await items.next();
    return done ? 'end' : `${value.type} ${value.version}`;
  };
  return { next, end: () => ended.abort() };
}

describe('ChangeFeed', () => {
  it('reports the changes since a version, then new ones', async () => {
    const { feed, resources } = await opened();
    for (let i = 0; i < 3; i++) resources.change();
    const { end, next } = following(feed, 1);
    expect([await next(), await next()]).toEqual(['change 2', 'change 3']);
    const later = next();
    resources.change();
    expect(await later).toBe('change 4');
    const last = next();
    end();
    expect(await last).toBe('end');
    expect(feed.version).toBe(4);
  });

  it('reports only the selected resources, and bookmarks now and then', async () => {
    const { feed, resources } = await opened();
    const { next } = following(feed, 0, { kind: 'Role', workspace: 'a' });
    const first = next();
    resources.change('Endpoint', 'a');
    resources.change('Role', 'b');
    expect(await first).toBe('bookmark 2');
    const second = next();
    resources.change('Role', 'a');
    expect(await second).toBe('change 3');
  });

  it('remembers a bounded number: a version that is too old or unknown is refused', async () => {
    const { feed, resources } = await opened(4);
    const slow = following(feed, 0);
    for (let i = 0; i < 6; i++) resources.change();
    expect([await slow.next(), await slow.next()]).toEqual(['gone 6', 'end']);
    expect(await following(feed, 2).next()).toBe('change 3');
    expect(await following(feed, 7).next()).toBe('gone 6');
  });

  it('has no changes from before it was opened, and misses none afterwards', async () => {
    const resources = new FakeResources();
    resources.change();
    resources.change();
    const opening = ChangeFeed.open(resources);
    resources.change();
    const feed = await opening;
    expect(await following(feed, 1).next()).toBe('gone 3');
    expect(await following(feed, 2).next()).toBe('change 3');
  });

  it('ends every follower when it is closed', async () => {
    const { feed, resources } = await opened();
    const { next } = following(feed, 0);
    const waiting = next();
    feed.close();
    resources.change();
    expect(await waiting).toBe('end');
    expect(await following(feed, 0).next()).toBe('end');
  });
});
