import { expect } from 'chai';
import { invalidInput, Problem } from '../../../src/kernel/problem.js';
const failure = (message, code) => Object.assign(new Error(message), code === undefined ? {} : { code });
describe('a problem made of what was thrown', () => {
    it('is itself when it is one already', () => {
        const problem = invalidInput('no');
        expect(Problem.from(problem)).to.equal(problem);
    });
    it('is INTERNAL and hides the text of anything else', () => {
        const cause = failure('password of the database is hunter2');
        const problem = Problem.from(cause);
        expect(problem.code).to.equal('INTERNAL');
        expect(problem.message).to.not.include('hunter2');
        expect(problem.cause).to.equal(cause);
        expect(problem.isRetryable).to.equal(false);
    });
    const outages = [
        ['a refused connection', failure('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED')],
        ['PostgreSQL shutting down', failure('terminating connection due to administrator command', '57P01')],
        ['Prisma without a server', failure('no server', 'P1001')],
        ['a raw query of Prisma without a server', failure("Raw query failed. Message: `Can't reach database server at host:5432`", 'P2010')],
        [
            'a query of Prisma while PostgreSQL starts',
            failure('Invalid `prisma.apiKey.findUnique()` invocation: Database error. Code: `57P03`. Message: `the database system is starting up`', 'P2039'),
        ],
        ['a cut connection', failure('Connection terminated unexpectedly')],
    ];
    for (const [title, thrown] of outages) {
        it(`is UNAVAILABLE, to be tried again, for ${title}`, () => {
            const problem = Problem.from(thrown);
            expect(problem.code).to.equal('UNAVAILABLE');
            expect(problem.isRetryable).to.equal(true);
            expect(problem.message).to.not.include(thrown.message);
        });
    }
});
//# sourceMappingURL=problem.test.js.map