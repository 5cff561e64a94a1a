import { expect } from 'chai';
import { playStory } from '../../src/local/demo/story.js';
import { usePlatform } from '../support/platform.js';
describe('the main job', () => {
    const platform = usePlatform();
    it('is done right, step by step, by the real processes', async () => {
        const told = [];
        for await (const { title, answer, isRight } of playStory(platform().file)) {
            told.push(`${isRight ? 'right' : 'WRONG'}: ${title}: ${answer}`);
            expect(isRight, told.join('\n')).to.equal(true);
        }
        expect(told).to.have.length.above(10);
    });
});
//# sourceMappingURL=story.test.js.map