// Shows the pages that contain every word of the search. Until their words are there, and when they cannot be had, titles are searched.
const search = document.getElementById('search')
const items = [...document.querySelectorAll('#pages li')]
const sections = [...document.querySelectorAll('#pages section')]
let wordsOf = {}
let isAsked = false
search.addEventListener('input', () => {
  if (!isAsked) void loadWords()
  showFound()
})

async function loadWords() {
  isAsked = true
  try {
    const response = await fetch(search.dataset.words)
    if (!response.ok) throw new Error(`${response.status}`)
    wordsOf = await response.json()
    showFound()
  } catch {
    // The next letter tries again.
    isAsked = false
  }
}

function showFound() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const item of items) {
    const link = item.querySelector('a')
    const text = `${link.textContent.toLowerCase()} ${wordsOf[link.getAttribute('href')] ?? ''}`
    item.hidden = !words.every((word) => text.includes(word))
  }
  for (const section of sections) section.hidden = !section.querySelector('li:not([hidden])')
  document.getElementById('nothing').hidden = items.some((item) => !item.hidden)
}

// Copies the block that the button belongs to. Browsers have a clipboard for pages on this machine and encrypted ones; for others it is selected and copied.
for (const button of document.querySelectorAll('button.copy')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const code = button.parentElement.querySelector('code')
    if (navigator.clipboard) await navigator.clipboard.writeText(code.textContent)
    else {
      getSelection().selectAllChildren(code)
      document.execCommand('copy')
    }
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1_500)
  })
}
