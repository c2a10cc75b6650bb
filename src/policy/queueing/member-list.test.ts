import { describe, expect, it } from 'vitest';
import { MemberLinks, MemberList } from './member-list.js';

function members(list: MemberList): number[] {
  const out: number[] = [];
  for (let member = list.first; member >= 0; member = list.after(member)) out.push(member);
  return out;
}

describe('MemberList', () => {
  it('keeps the order of appending and removes anywhere', () => {
    const links = new MemberLinks();
    const list = new MemberList(links);
    for (const member of [4, 40, 7, 1]) {
      links.reserve(member);
      list.append(member);
    }
    expect(members(list)).toEqual([4, 40, 7, 1]);
    list.remove(40);
    expect(members(list)).toEqual([4, 7, 1]);
    list.remove(4);
    list.remove(1);
    expect([list.first, list.last, list.size]).toEqual([7, 7, 1]);
    list.remove(7);
    expect([list.first, list.last, list.size]).toEqual([-1, -1, 0]);
    list.append(40);
    expect(members(list)).toEqual([40]);
  });

  it('shares its links with other lists', () => {
    const links = new MemberLinks();
    links.reserve(9);
    const [odd, even] = [new MemberList(links), new MemberList(links)];
    for (let member = 0; member < 10; member++) (member % 2 === 0 ? even : odd).append(member);
    odd.remove(5);
    expect([members(odd), members(even)]).toEqual([
      [1, 3, 7, 9],
      [0, 2, 4, 6, 8],
    ]);
  });
});
