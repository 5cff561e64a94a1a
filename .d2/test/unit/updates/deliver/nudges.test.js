import { expect } from 'chai';
import { silentLogger } from '../../../../src/platform/logger.js';
import { Life } from '../../../../src/platform/process.js';
import { createNudges } from '../../../../src/updates/deliver/nudges.js';
import { eventually } from '../../../support/eventually.js';
describe('nudges', () => {
    let life;
    let announced;
    let nudge;
    beforeEach(() => {
        life = new Life('test', silentLogger());
        announced = [];
        nudge = createNudges(life, (environmentId) => announced.push(environmentId));
    });
    afterEach(async () => expect(await life.stop()).to.deep.equal([]));
    it('announce the first change at once, and those that follow closely together, after it', async () => {
        for (let n = 0; n < 5; n++)
            nudge('one');
        expect(announced).to.deep.equal(['one']);
        await eventually('the others', () => announced.length > 1);
        expect(announced).to.deep.equal(['one', 'one']);
    });
    it('hold up no other environment', () => {
        for (const environmentId of ['one', 'one', 'other'])
            nudge(environmentId);
        expect(announced).to.deep.equal(['one', 'other']);
    });
    it('announce what still waits when the process ends, and nothing else', async () => {
        for (const environmentId of ['one', 'one', 'other'])
            nudge(environmentId);
        expect(await life.stop()).to.deep.equal([]);
        expect(announced).to.deep.equal(['one', 'other', 'one']);
    });
});
//# sourceMappingURL=nudges.test.js.map