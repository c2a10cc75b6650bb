import type { Candidate } from './why';

interface ScoreBarsProps {
  readonly replicas: readonly Candidate[];
  readonly chosen: string | null;
}

/** What each candidate's score is made of: one row of bars per term, on a scale of its own. */
export function ScoreBars({ chosen, replicas: given }: ScoreBarsProps) {
  const hasTerms = given.some(({ terms }) => Object.keys(terms).length > 0);
  const isScored = given.some(({ score }) => score !== null);
  const replicas: readonly Pick<Candidate, 'id' | 'terms'>[] =
    hasTerms || !isScored ? given : given.map((one) => ({ ...one, terms: { score: one.score } }));
  const names = [...new Set(replicas.flatMap(({ terms }) => Object.keys(terms)))];
  if (names.length === 0) return null;
  return (
    <div className="scores">
      {names.map((name) => {
        const most = Math.max(1e-12, ...replicas.map(({ terms }) => Math.abs(terms[name] ?? 0)));
        return (
          <section key={name} className="score-term">
            <h3>{name}</h3>
            <ul>
              {replicas.map(({ id, terms }) => {
                const value = terms[name] ?? null;
                return (
                  <li key={id} className={id === chosen ? 'is-chosen' : ''}>
                    <span className="score-name" title={id}>
                      {id}
                    </span>
                    <span className="score-track" aria-hidden="true">
                      <span style={{ width: `${(100 * Math.abs(value ?? 0)) / most}%` }} />
                    </span>
                    <span className="number">{value === null ? '–' : Number(value.toPrecision(3)).toString()}</span>
                  </li>
                );
              })}
            </ul>
          </section>
        );
      })}
    </div>
  );
}
